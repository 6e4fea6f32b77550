// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func listen(t *testing.T) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	return ln
}

// start runs a relay to target; stop ends it and returns what Run did.
func start(t *testing.T, target string, allow bool) (addr string, stop func() error) {
	t.Helper()
	ln := listen(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- New(Config{Listener: ln, Target: target, Allow: func(netip.Addr) bool { return allow }}).Run(ctx)
	}()
	return ln.Addr().String(), func() error {
		cancel()
		return <-done
	}
}

func TestRelayPassesHalfClosed(t *testing.T) {
	target := listen(t)
	go func() {
		conn, err := target.Accept()
		if err != nil {
			return
		}
		all, _ := io.ReadAll(conn) // Until the client has said all.
		_, _ = conn.Write([]byte(strings.ToUpper(string(all))))
		_ = conn.Close()
	}()
	addr, stop := start(t, target.Addr().String(), true)
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.Write([]byte("hello"))
	if err := errors.Join(err, conn.(*net.TCPConn).CloseWrite()); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(conn); string(got) != "HELLO" || err != nil {
		t.Errorf("answer %q, %v", got, err)
	}
	if err := errors.Join(conn.Close(), stop()); err != nil {
		t.Error(err)
	}
}

func TestRelayRefuses(t *testing.T) {
	target := listen(t)
	for name, addr := range map[string]struct {
		target string
		allow  bool
	}{
		"stranger":      {target.Addr().String(), false},
		"target closed": {"127.0.0.1:1", true},
	} {
		t.Run(name, func(t *testing.T) {
			at, stop := start(t, addr.target, addr.allow)
			conn, err := net.Dial("tcp", at)
			if err != nil {
				t.Fatal(err)
			}
			_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
			if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("read: %v; want the connection closed", err)
			}
			_ = conn.Close()
			if err := stop(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRelayEndsOpenConnections(t *testing.T) {
	target := listen(t)
	accepted := make(chan net.Conn, 1)
	go func() {
		if conn, err := target.Accept(); err == nil {
			accepted <- conn
		}
	}()
	addr, stop := start(t, target.Addr().String(), true)
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	server := <-accepted
	if err := stop(); err != nil {
		t.Error(err)
	}
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the connection outlives the relay")
	}
	_, _ = conn.Close(), server.Close()
}
