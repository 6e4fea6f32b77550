// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package peer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// program is a TCP server whose answers a test writes byte by byte.
type program struct {
	t       *testing.T
	address string
	conns   atomic.Int32
	heads   atomic.Int32 // requests whose head was read
}

// talk is one connection as the program sees it.
type talk struct {
	p *program
	*net.TCPConn
	r *bufio.Reader
	n int // number of the connection, from 0
}

func newProgram(t *testing.T, f func(c *talk)) *program {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &program{t: t, address: l.Addr().String()}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			n := int(p.conns.Add(1)) - 1
			all.Go(func() {
				defer c.Close()
				f(&talk{p: p, TCPConn: c.(*net.TCPConn), r: bufio.NewReader(c), n: n})
			})
		}
	})
	t.Cleanup(func() { l.Close(); all.Wait() })
	return p
}

// request reads a request with its body.
func (c *talk) request() (string, error) {
	r, err := http.ReadRequest(c.r)
	if err != nil {
		return "", err
	}
	c.p.heads.Add(1)
	body, err := io.ReadAll(r.Body)
	return string(body), err
}

func (c *talk) say(s string) { _, _ = io.WriteString(c, s) }

// reset closes with a RST.
func (c *talk) reset() { _ = c.SetLinger(0); c.Close() }

func newPeer(t *testing.T, address string) *Peer {
	p := New(Config{Address: address})
	t.Cleanup(p.Close)
	return p
}

func newRequest(method, body string) *Request {
	pool := &sync.Pool{New: func() any { b := make([]byte, 1<<10); return &b }}
	q := &Request{Method: method, Target: "/", URL: &url.URL{Path: "/"}, Host: "a.test", Header: http.Header{}, Buffers: pool,
		StopReading: func() {}, Interim: func(int, http.Header) {}}
	if body != "" {
		q.Body, q.Length = strings.NewReader(body), int64(len(body))
	}
	return q
}

// do makes one exchange and reads the body of the response.
func do(t *testing.T, p *Peer, q *Request) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	defer q.Finish()
	res, err := p.RoundTrip(ctx, q)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return string(body), err
}

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

func TestConnectionsAreKept(t *testing.T) {
	for _, answer := range []string{ok, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"} {
		p := newProgram(t, func(c *talk) {
			for {
				if _, err := c.request(); err != nil {
					return
				}
				c.say(answer)
			}
		})
		peer := newPeer(t, p.address)
		for _, body := range []string{"", "x", "", "y"} {
			if got, err := do(t, peer, newRequest("POST", body)); got != "ok" || err != nil {
				t.Fatalf("%q, %v", got, err)
			}
		}
		if n := p.conns.Load(); n != 1 {
			t.Errorf("%d connections", n)
		}
	}
}

// What happens to a request that meets a connection that was kept too long.
func TestSentAtMostOnce(t *testing.T) {
	tests := map[string]struct {
		reason string
		second func(c *talk) // after the first answer on the first connection
		ok     bool
		heads  int32 // requests that programs saw in all
	}{
		"ClosedBefore": {"a look shows that the connection is closed", func(c *talk) { c.Close() }, true, 2},
		"ResetBefore":  {"", func(c *talk) { c.reset() }, true, 2},
		"SaidSomething": {"what came unasked is not the answer to the next request", func(c *talk) {
			c.say("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")
			_, _ = c.r.Peek(1)
		}, true, 2},
		"ReadAndClosed":    {"the program may have acted on it", func(c *talk) { _, _ = c.request() }, false, 2},
		"ReadAndReset":     {"", func(c *talk) { _, _ = c.request(); c.reset() }, false, 2},
		"ReadHeadAndReset": {"", func(c *talk) { _, _ = http.ReadRequest(c.r); c.p.heads.Add(1); c.reset() }, false, 2},
		"HalfAnAnswer":     {"", func(c *talk) { _, _ = c.request(); c.say("HTTP/1.1 200") }, false, 2},
	}
	for name, test := range tests {
		for _, method := range []string{"GET", "POST"} {
			t.Run(name+"/"+method, func(t *testing.T) {
				acted := make(chan struct{})
				p := newProgram(t, func(c *talk) {
					for n := 0; ; n++ {
						if c.n == 0 && n == 1 {
							test.second(c)
							close(acted)
							return
						}
						if c.n == 0 && n == 0 {
							_, _ = c.request()
							c.say(ok)
							continue
						}
						if _, err := c.request(); err != nil {
							return
						}
						c.say(ok)
					}
				})
				peer := newPeer(t, p.address)
				if _, err := do(t, peer, newRequest("GET", "")); err != nil {
					t.Fatal(err)
				}
				if test.ok && name != "SaidSomething" {
					<-acted
				} else if name == "SaidSomething" {
					awaitQuietEnd(t, peer)
				}
				body := ""
				if method == "POST" {
					body = "payload"
				}
				got, err := do(t, peer, newRequest(method, body))
				if (err == nil && got == "ok") != test.ok {
					t.Errorf("%q, %v: %s", got, err, test.reason)
				}
				if n := p.heads.Load(); n != test.heads {
					t.Errorf("programs saw %d requests, want %d", n, test.heads)
				}
			})
		}
	}
}

// awaitQuietEnd waits until the kept connection has something to read.
func awaitQuietEnd(t *testing.T, p *Peer) {
	deadline := time.Now().Add(10 * time.Second)
	for time.Now().Before(deadline) {
		p.mu.Lock()
		quiet := len(p.idle) > 0 && p.idle[0].alive()
		p.mu.Unlock()
		if !quiet {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("nothing came")
}

// The program closed a moment before the request came: its kernel acknowledged nothing, so the request goes over a new
// connection, with the part of its body that was read already.
func TestClosedInTheSameMoment(t *testing.T) {
	for _, body := range []string{"", "payload"} {
		closed := make(chan struct{})
		p := newProgram(t, func(c *talk) {
			got, err := c.request()
			if err != nil {
				return
			}
			if c.n == 0 {
				c.say(ok)
				c.Close()
				close(closed)
				return
			}
			c.say(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(got), got))
		})
		peer := newPeer(t, p.address)
		if _, err := do(t, peer, newRequest("GET", "")); err != nil {
			t.Fatal(err)
		}
		<-closed
		peer.idle[0].probe.blind = true // as if the FIN were still on its way
		if got, err := do(t, peer, newRequest("POST", body)); got != body || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		if n := p.heads.Load(); n != 2 {
			t.Errorf("programs saw %d requests", n)
		}
	}
}

func TestRefusedConnection(t *testing.T) {
	l, _ := net.Listen("tcp", "127.0.0.1:0")
	l.Close()
	for _, h2c := range []bool{false, true} {
		p := New(Config{Address: l.Addr().String(), H2C: h2c})
		defer p.Close()
		_, err := do(t, p, newRequest("GET", ""))
		if d := (*DialError)(nil); !errors.As(err, &d) {
			t.Errorf("HTTP/2 %t: %v", h2c, err)
		}
	}
}

// A request that one instance refused goes to another with its body, also if a part of that was read on a dead connection.
func TestMovesOnToAnotherPeer(t *testing.T) {
	l, _ := net.Listen("tcp", "127.0.0.1:0")
	accepted := make(chan net.Conn, 1)
	go func() { c, _ := l.Accept(); accepted <- c }()
	dead := newPeer(t, l.Addr().String())
	q1 := newRequest("GET", "")
	go func() {
		c := <-accepted
		_, _ = http.ReadRequest(bufio.NewReader(c))
		_, _ = io.WriteString(c, ok)
		l.Close()
		c.Close()
		close(accepted)
	}()
	if _, err := do(t, dead, q1); err != nil {
		t.Fatal(err)
	}
	<-accepted
	dead.idle[0].probe.blind = true
	p := newProgram(t, func(c *talk) {
		body, _ := c.request()
		c.say(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
	})
	q := newRequest("POST", "payload")
	_, err := dead.RoundTrip(t.Context(), q)
	if d := (*DialError)(nil); !errors.As(err, &d) {
		t.Fatalf("%v", err)
	}
	if got, err := do(t, newPeer(t, p.address), q); got != "payload" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestBadAnswers(t *testing.T) {
	tests := map[string]string{
		"Nothing":        "",
		"NoHTTP":         "SSH-2.0-OpenSSH\r\n",
		"LongHead":       "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", maxHead) + "\r\n\r\n",
		"ManyInterim":    strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", maxInterim+1) + ok,
		"StrangeStatus":  "HTTP/1.1 042 What\r\n\r\n",
		"TwoLengths":     "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok",
		"UnaskedUpgrade": "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
		"ShortBody":      "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nok",
		"ShortChunk":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nok",
	}
	for name, answer := range tests {
		t.Run(name, func(t *testing.T) {
			p := newProgram(t, func(c *talk) { _, _ = c.request(); c.say(answer) })
			if got, err := do(t, newPeer(t, p.address), newRequest("GET", "")); err == nil {
				t.Errorf("%q", got)
			}
			if p.heads.Load() != 1 {
				t.Errorf("%d requests", p.heads.Load())
			}
		})
	}
}

func TestWhichConnectionsAreNotKept(t *testing.T) {
	tests := map[string]string{
		"Close":    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok",
		"Old":      "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
		"Leftover": ok + "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong",
		"Short":    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nKeep-Alive: timeout=1\r\n\r\nok",
	}
	for name, answer := range tests {
		t.Run(name, func(t *testing.T) {
			p := newProgram(t, func(c *talk) {
				for {
					if _, err := c.request(); err != nil {
						return
					}
					c.say(answer)
				}
			})
			peer := newPeer(t, p.address)
			for range 2 {
				if got, err := do(t, peer, newRequest("GET", "")); got != "ok" || err != nil {
					t.Fatalf("%q, %v", got, err)
				}
			}
			if n := p.conns.Load(); n != 2 {
				t.Errorf("%d connections", n)
			}
		})
	}
}

func TestKeepAliveTimeout(t *testing.T) {
	tests := map[string]struct {
		value string
		want  time.Duration
		ok    bool
	}{
		"Node":     {"timeout=5", 5 * time.Second, true},
		"WithMax":  {"max=100, Timeout=15", 15 * time.Second, true},
		"Nonsense": {"timeout=soon", 0, false},
		"Negative": {"timeout=-5", 0, false},
		"Huge":     {"timeout=99999999999", 0, false},
		"Other":    {"max=3", 0, false},
	}
	for name, test := range tests {
		if d, ok := keepAliveTimeout([]string{test.value}); d != test.want || ok != test.ok {
			t.Errorf("%s: %v %t", name, d, ok)
		}
	}
}

// With Expect, the body is not read before the program wants it, and not at all if it answers without.
func TestExpect(t *testing.T) {
	for _, wanted := range []bool{true, false} {
		p := newProgram(t, func(c *talk) {
			r, err := http.ReadRequest(c.r)
			if err != nil || r.Header.Get("Expect") != "100-continue" {
				t.Errorf("%v, %v", r, err)
				return
			}
			if wanted {
				c.say("HTTP/1.1 100 Continue\r\n\r\n")
				_, _ = io.ReadAll(r.Body)
			}
			c.say(ok)
			_, _ = c.r.ReadByte()
		})
		q := newRequest("POST", "payload")
		q.Expect = true
		body := q.Body.(*strings.Reader)
		if got, err := do(t, newPeer(t, p.address), q); got != "ok" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		if read := body.Len() == 0; read != wanted {
			t.Errorf("read %t, want %t", read, wanted)
		}
	}
}

// The end of the context ends an exchange at any point, with its cause.
func TestCancellation(t *testing.T) {
	tests := map[string]func(c *talk){
		"NoAnswer": func(c *talk) { _, _ = c.request(); _, _ = c.r.ReadByte() },
		"HalfHead": func(c *talk) { c.say("HTTP/1.1 200 OK\r\n"); _, _ = io.Copy(io.Discard, c.r) },
		"HalfBody": func(c *talk) {
			c.say("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok")
			_, _ = io.Copy(io.Discard, c.r)
		},
		"NotReading": func(c *talk) { <-c.p.t.Context().Done() },
	}
	for name, f := range tests {
		t.Run(name, func(t *testing.T) {
			hold := make(chan struct{})
			p := newProgram(t, func(c *talk) {
				if name == "NotReading" {
					<-hold
					return
				}
				f(c)
			})
			defer close(hold)
			why := errors.New("enough")
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(50*time.Millisecond, func() { cancel(why) })
			q := newRequest("POST", "x")
			if name == "NotReading" {
				q.Body, q.Length = io.LimitReader(zeros{}, 1<<30), 1<<30
			}
			defer q.Finish()
			res, err := newPeer(t, p.address).RoundTrip(ctx, q)
			if err == nil {
				_, err = io.ReadAll(res.Body)
				res.Body.Close()
			}
			if !errors.Is(err, why) {
				t.Errorf("%v", err)
			}
		})
	}
}

// lazyConn takes its time for the deadline that ends an exchange, unless somebody got the connection meanwhile.
type lazyConn struct {
	net.Conn
	given chan struct{}
	late  atomic.Bool
}

func (c *lazyConn) SetDeadline(t time.Time) error {
	if t.Before(time.Now()) {
		select {
		case <-c.given:
			c.late.Store(true)
		case <-time.After(50 * time.Millisecond):
		}
	}
	return c.Conn.SetDeadline(t)
}

// Whoever takes over a connection that was given up sets deadlines of his own: the end of the context must not undo them.
func TestAbandonComesAfterTheAbort(t *testing.T) {
	tests := map[string]string{"InBody": "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok", "BeforeHead": ""}
	for name, answer := range tests {
		t.Run(name, func(t *testing.T) {
			p := newProgram(t, func(c *talk) {
				_, _ = c.request()
				c.say(answer)
				if answer == "" {
					c.say("HTTP/1.1 200")
				}
				_, _ = io.Copy(io.Discard, c.r)
			})
			lazy := &lazyConn{given: make(chan struct{})}
			peer := New(Config{Address: p.address, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
				c, err := (&net.Dialer{}).DialContext(ctx, network, address)
				lazy.Conn = c
				return lazy, err
			}})
			t.Cleanup(peer.Close)
			ctx, cancel := context.WithCancel(t.Context())
			q := newRequest("GET", "")
			q.Abandon = func(net.Conn) { close(lazy.given) }
			if answer == "" {
				time.AfterFunc(20*time.Millisecond, func() { cancel(); lazy.SetReadDeadline(time.Now()) })
			}
			res, err := peer.RoundTrip(ctx, q)
			cancel()
			if err == nil {
				res.Body.Close()
			}
			q.Finish()
			<-lazy.given
			defer lazy.Close()
			if (err == nil) != (answer != "") {
				t.Error(err)
			}
			wait := time.After(100 * time.Millisecond)
			for !lazy.late.Load() {
				select {
				case <-wait:
					return
				case <-time.After(time.Millisecond):
				}
			}
			t.Error("the connection was given away before it was aborted")
		})
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestCloseAndOpen(t *testing.T) {
	p := newProgram(t, func(c *talk) {
		for {
			if _, err := c.request(); err != nil {
				return
			}
			c.say(ok)
		}
	})
	peer := newPeer(t, p.address)
	for n, change := range []func(){func() {}, func() {}, peer.Close, func() {}, peer.Open, func() {}} {
		change()
		if _, err := do(t, peer, newRequest("GET", "")); err != nil {
			t.Fatal(n, err)
		}
	}
	// Kept after the first; closed and not kept; not kept; kept again by the fifth.
	if n := p.conns.Load(); n != 4 {
		t.Errorf("%d connections", n)
	}
}
