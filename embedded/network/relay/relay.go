// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package relay passes TCP connections on to one address, for clients that may
// have it. It knows nothing of what they say.
package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"
)

// dialTimeout bounds the way to a target on this machine.
const dialTimeout = 5 * time.Second

// Config says who is passed on where.
type Config struct {
	// Listener accepts the connections. Run closes it.
	Listener net.Listener
	// Target is "host:port".
	Target string
	// Allow decides by the client's address.
	Allow func(netip.Addr) bool
	// Log gets refusals. Nil discards them.
	Log *slog.Logger
}

// Relay is a listener and the connections that came from it.
type Relay struct {
	cfg Config

	mu    sync.Mutex
	open  map[net.Conn]bool
	ended bool
	wg    sync.WaitGroup
}

// New makes a relay.
func New(cfg Config) *Relay {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Relay{cfg: cfg, open: map[net.Conn]bool{}}
}

// Run relays until ctx ends, then closes all connections.
func (r *Relay) Run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, r.end)
	defer stop()
	err := r.accept(ctx)
	r.end()
	r.wg.Wait()
	return err
}

func (r *Relay) accept(ctx context.Context) error {
	for {
		client, err := r.cfg.Listener.Accept()
		if ctx.Err() != nil {
			if err == nil {
				_ = client.Close()
			}
			return nil
		}
		var temporary interface{ Temporary() bool }
		if errors.As(err, &temporary) && temporary.Temporary() { // Too many open files.
			select {
			case <-ctx.Done():
			case <-time.After(10 * time.Millisecond):
			}
			continue
		}
		if err != nil {
			return fmt.Errorf("accept connections on %s: %w", r.cfg.Listener.Addr(), err)
		}
		r.start(ctx, client)
	}
}

func (r *Relay) start(ctx context.Context, client net.Conn) {
	from, err := netip.ParseAddrPort(client.RemoteAddr().String())
	if err != nil || !r.cfg.Allow(from.Addr().Unmap()) {
		r.cfg.Log.Warn("Refused a connection", "from", client.RemoteAddr(), "to", r.cfg.Listener.Addr())
		_ = client.Close()
		return
	}
	if !r.track(client) {
		return
	}
	r.wg.Go(func() {
		defer r.untrack(client)
		r.pass(ctx, client)
	})
}

// pass copies both ways. The end of one direction is told to the other side,
// which may go on to speak.
func (r *Relay) pass(ctx context.Context, client net.Conn) {
	server, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", r.cfg.Target)
	if err != nil {
		r.cfg.Log.Debug("Target does not answer", "target", r.cfg.Target, "error", err)
		return
	}
	if !r.track(server) {
		return
	}
	defer r.untrack(server)
	var wg sync.WaitGroup
	for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
		wg.Go(func() {
			from, to := way[0], way[1]
			_, err := io.Copy(to, from)
			if half, ok := to.(interface{ CloseWrite() error }); ok && err == nil {
				_ = half.CloseWrite()
				return
			}
			_ = from.Close()
			_ = to.Close()
		})
	}
	wg.Wait()
}

// track remembers a connection to be closed at the end; after the end it closes it
// at once.
func (r *Relay) track(c net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		_ = c.Close()
		return false
	}
	r.open[c] = true
	return true
}

func (r *Relay) untrack(c net.Conn) {
	_ = c.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, c)
}

func (r *Relay) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	_ = r.cfg.Listener.Close()
	for c := range r.open {
		_ = c.Close()
	}
}
