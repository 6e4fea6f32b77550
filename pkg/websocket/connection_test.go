// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package websocket_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	coder "github.com/coder/websocket"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"weir.dev/pkg/network"
	"weir.dev/pkg/websocket"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pipes is a listener of connections in memory, in which a test's clock runs.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
	// refuse has dialling fail; tried counts it.
	refuse atomic.Bool
	tried  atomic.Int32
}

var errRefused = errors.New("refused")

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	p.tried.Add(1)
	if p.refuse.Load() {
		return nil, errRefused
	}
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-p.closed:
		return nil, errRefused
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// listen serves WebSocket connections with session until the test ends.
func listen(t *testing.T, session func(context.Context, *coder.Conn)) *pipes {
	return listenWith(t, nil, session)
}

func listenWith(t *testing.T, opts *coder.AcceptOptions, session func(context.Context, *coder.Conn)) *pipes {
	p := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	server := network.NewServer("", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := coder.Accept(w, r, opts)
		if err != nil {
			return
		}
		defer func() { _ = conn.CloseNow() }()
		session(r.Context(), conn)
	}))
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(p) }()
	t.Cleanup(func() { server.Close(); <-ended })
	return p
}

func shutdown(t *testing.T, c *websocket.ManagedConnection) {
	t.Helper()
	if err := c.Shutdown(); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	if err := c.Status(); !errors.Is(err, websocket.ErrConnectionNotEstablished) {
		t.Errorf("the status after the end is %v", err)
	}
}

var logger = zap.NewNop().Sugar()

// echo sends back what it reads.
func echo(ctx context.Context, conn *coder.Conn) {
	for {
		kind, message, err := conn.Read(ctx)
		if err != nil || conn.Write(ctx, kind, message) != nil {
			return
		}
	}
}

func TestMessages(t *testing.T) {
	tests := map[string]struct {
		reason string
		send   func(*websocket.ManagedConnection) error
		want   string
		ok     bool
	}{
		"Send":   {"a value is JSON", func(c *websocket.ManagedConnection) error { return c.Send(map[string]int{"a": 1}) }, `{"a":1}`, true},
		"Raw":    {"bytes are as they are", func(c *websocket.ManagedConnection) error { return c.SendRaw(websocket.BinaryMessage, []byte{0, 1}) }, "\x00\x01", true},
		"Empty":  {"nothing is a message too", func(c *websocket.ManagedConnection) error { return c.SendRaw(websocket.TextMessage, nil) }, "", true},
		"NoJSON": {"not every value has a form", func(c *websocket.ManagedConnection) error { return c.Send(func() {}) }, "", false},
		"Kind":   {"control messages are the connection's own", func(c *websocket.ManagedConnection) error { return c.SendRaw(9, nil) }, "", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				messages := make(chan []byte)
				c := websocket.NewDurableConnection("ws://peer", messages, logger, websocket.WithDialer(listen(t, echo).dial))
				defer shutdown(t, c)
				synctest.Wait()
				if err := c.Status(); err != nil {
					t.Fatalf("Status: %v", err)
				}
				if err := tc.send(c); (err == nil) != tc.ok {
					t.Fatalf("%s: error is %v", tc.reason, err)
				}
				if !tc.ok {
					return
				}
				if got := <-messages; !bytes.Equal(got, []byte(tc.want)) {
					t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
				}
			})
		})
	}
}

// TestKept: a connection on which nothing is sent lives on pings.
func TestKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := listen(t, echo)
		c := websocket.NewDurableSendingConnection("ws://peer", logger, websocket.WithDialer(p.dial))
		time.Sleep(time.Hour)
		if got := p.tried.Load(); got != 1 || c.Status() != nil {
			t.Errorf("after an hour it was dialled %d times, and is %v", got, c.Status())
		}
		shutdown(t, c)
	})
}

// TestSilence: a peer that answers no ping is given up within ten seconds, and
// dialled again.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ignore := func(context.Context, []byte) bool { return false }
		p := listenWith(t, &coder.AcceptOptions{OnPingReceived: ignore}, echo)
		c := websocket.NewDurableSendingConnection("ws://peer", logger, websocket.WithDialer(p.dial))
		time.Sleep(9 * time.Second)
		if got := p.tried.Load(); got != 1 {
			t.Errorf("after 9s it was dialled %d times", got)
		}
		time.Sleep(1200 * time.Millisecond)
		if got := p.tried.Load(); got != 2 {
			t.Errorf("after 10s and the first pause it was dialled %d times", got)
		}
		shutdown(t, c)
	})
}

// TestReconnect: the pauses grow from 100 ms by 1.3 to about 19 s, and begin
// anew after a connection that stood; what is sent meanwhile fails.
func TestReconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cut := make(chan struct{})
		p := listen(t, func(ctx context.Context, conn *coder.Conn) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			go echo(ctx, conn)
			<-cut
		})
		p.refuse.Store(true)
		c := websocket.NewDurableSendingConnection("ws://peer", logger, websocket.WithDialer(p.dial))
		defer shutdown(t, c)
		synctest.Wait()
		if err := c.Send("x"); !errors.Is(err, websocket.ErrConnectionNotEstablished) || !errors.Is(err, errRefused) {
			t.Errorf("sending without a connection: %v", err)
		}
		time.Sleep(time.Second)
		if got := p.tried.Load(); got < 4 || got > 7 {
			t.Errorf("it tried %d times in the first second", got)
		}
		time.Sleep(time.Hour)
		before := p.tried.Load()
		time.Sleep(time.Hour)
		if got := p.tried.Load() - before; got < 120 || got > 190 {
			t.Errorf("it tried %d times an hour later", got)
		}
		p.refuse.Store(false)
		time.Sleep(30 * time.Second)
		if err := c.Send("x"); err != nil {
			t.Errorf("sending once it can connect: %v", err)
		}
		cut <- struct{}{}
		time.Sleep(200 * time.Millisecond)
		if err := c.Status(); err != nil {
			t.Errorf("the first pause after a break is short: %v", err)
		}
		p.refuse.Store(true)
		close(cut)
		synctest.Wait()
	})
}

func TestGuaranteed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := listen(t, echo)
		p.refuse.Store(true)
		start := time.Now()
		if _, err := websocket.NewDurableSendingConnectionGuaranteed("ws://peer", 5*time.Second, logger, websocket.WithDialer(p.dial)); !errors.Is(err, errRefused) {
			t.Errorf("nobody answers: %v", err)
		}
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("giving up took %v", took)
		}
		time.AfterFunc(2*time.Second, func() { p.refuse.Store(false) })
		c, err := websocket.NewDurableSendingConnectionGuaranteed("ws://peer", time.Minute, logger, websocket.WithDialer(p.dial))
		if err != nil {
			t.Fatalf("the peer came late: %v", err)
		}
		if err := c.Send("x"); err != nil {
			t.Errorf("a guaranteed connection fails: %v", err)
		}
		shutdown(t, c)
	})
}

// TestShutdown: an end comes whatever goes on, and the peer hears of it.
func TestShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard := make(chan error, 1)
		p := listen(t, func(ctx context.Context, conn *coder.Conn) {
			_ = conn.Write(ctx, coder.MessageText, []byte("nobody takes this"))
			_, _, err := conn.Read(ctx)
			heard <- err
		})
		c := websocket.NewDurableConnection("ws://peer", make(chan []byte), logger, websocket.WithDialer(p.dial))
		synctest.Wait()
		shutdown(t, c)
		if got := coder.CloseStatus(<-heard); got != coder.StatusNormalClosure {
			t.Errorf("the peer heard %v", got)
		}
		shutdown(t, c)

		hangs := func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }
		c = websocket.NewDurableSendingConnection("ws://peer", logger, websocket.WithDialer(hangs))
		synctest.Wait()
		shutdown(t, c)
	})
}
