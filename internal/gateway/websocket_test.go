// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"weir.dev/internal/feed/feedpb"
)

// echo is a WebSocket program that returns what it gets, and closes at "bye".
func echo(w http.ResponseWriter, r *http.Request) {
	c, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer c.CloseNow()
	c.SetReadLimit(1 << 20)
	for {
		kind, data, err := c.Read(r.Context())
		if err != nil {
			return
		}
		if string(data) == "bye" {
			c.Close(websocket.StatusGoingAway, "so long")
			return
		}
		if c.Write(r.Context(), kind, data) != nil {
			return
		}
	}
}

func (r *rig) websocket(t *testing.T, host string) *websocket.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	c, _, err := websocket.Dial(ctx, "ws://"+host+"/", &websocket.DialOptions{HTTPClient: client(t, r.external, false)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.CloseNow() })
	return c
}

func say(t *testing.T, c *websocket.Conn, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	if err := c.Write(ctx, websocket.MessageText, []byte(text)); err != nil {
		t.Fatal(err)
	}
	if _, got, err := c.Read(ctx); err != nil || string(got) != text {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
}

// Limits on requests do not end a WebSocket, and it counts as a request as long as it lasts.
func TestWebSocket(t *testing.T) {
	r := newRig(t)
	r.serve("ws.test", echo, func(b *feedpb.Backend) { b.TimeoutMs, b.ResponseStartTimeoutMs, b.ContainerConcurrency = 300, 300, 1 })
	c := r.websocket(t, "ws.test")
	c.SetReadLimit(1 << 20)
	say(t, c, "hello")
	<-time.After(600 * time.Millisecond)
	say(t, c, strings.Repeat("x", 200_000))
	r.await("the WebSocket to count", func() bool {
		n := len(r.stats)
		return n > 0 && r.stats[n-1].GetInFlight() == 1 && r.stats[n-1].GetAverageConcurrency() > 0.99
	})
	if code, _, _ := get(t, client(t, r.external, false), "http://ws.test/"); code != 504 {
		t.Errorf("%d: a second request got the slot of the WebSocket", code)
	}
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	_ = c.Write(ctx, websocket.MessageText, []byte("bye"))
	if _, _, err := c.Read(ctx); websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Errorf("the close of the program became %v", err)
	}
	if code, _, _ := get(t, client(t, r.external, false), "http://ws.test/"); code != 426 {
		t.Errorf("%d: the slot is not free again", code)
	}
}

func TestWebSocketIdleLimit(t *testing.T) {
	r := newRig(t)
	r.serve("idle.test", echo, func(b *feedpb.Backend) { b.IdleTimeoutMs = 300 })
	c := r.websocket(t, "idle.test")
	for range 4 {
		<-time.After(150 * time.Millisecond)
		say(t, c, "still here")
	}
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	if _, _, err := c.Read(ctx); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

// Any protocol can be changed to; each direction ends by itself.
func TestUpgradeHalfClose(t *testing.T) {
	r := newRig(t)
	r.serve("raw.test", func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Upgrade", req.Header.Get("Upgrade"))
		w.Header().Set("Connection", "Upgrade")
		w.WriteHeader(http.StatusSwitchingProtocols)
		c, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		all, _ := io.ReadAll(rw)

		fmt.Fprintf(c, "got %s", all)
	}, nil)
	c, err := net.Dial("tcp", r.external)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(hang))
	fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: raw.test\r\nConnection: upgrade\r\nUpgrade: raw\r\n\r\nahead ")
	res, err := http.ReadResponse(bufio.NewReader(io.LimitReader(c, 1)), nil)
	_ = res
	if err == nil {
		t.Fatal("one byte is no response")
	}
	fmt.Fprint(c, "and more")
	_ = c.(*net.TCPConn).CloseWrite()
	rest, err := io.ReadAll(c)
	if err != nil || !strings.HasPrefix(string(rest), "TTP/1.1 101 ") || !strings.HasSuffix(string(rest), "\r\n\r\ngot ahead and more") {
		t.Errorf("%q, %v", rest, err)
	}
}

// When the gateway ends, WebSockets are cut at the end of its grace, not before.
func TestWebSocketAtTheEnd(t *testing.T) {
	r := newRig(t)
	r.serve("end.test", echo, nil)
	c := r.websocket(t, "end.test")
	say(t, c, "hello")
	ended := r.stop()
	<-time.After(500 * time.Millisecond)
	say(t, c, "within the grace")
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	if _, _, err := c.Read(ctx); err == nil {
		t.Error("something came")
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
