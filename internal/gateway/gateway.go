// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package gateway assembles the data plane: listeners in front, instances behind, and between them what the feed says. It
// routes, holds requests while a revision has no instance, keeps hard limits, measures. It knows no Kubernetes API.
package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"weir.dev/internal/gateway/backend"
	"weir.dev/internal/gateway/drain"
	"weir.dev/internal/gateway/feed"
	"weir.dev/internal/gateway/forward"
	"weir.dev/internal/gateway/peer"
	"weir.dev/internal/gateway/probe"
)

// Config of a Gateway. The listeners belong to the gateway once Run was called.
type Config struct {
	// ID is unique among live gateways.
	ID string
	// Feeds are the controllers: one is followed, all get reports.
	Feeds []grpc.ClientConnInterface
	// External serves public hosts, Internal all hosts; cleartext, HTTP/1.1 and HTTP/2 with prior knowledge.
	External, Internal []net.Listener
	// Drain serves the platform's own questions; nil is none.
	Drain net.Listener
	// Trusted are the addresses of proxies in front whose X-Forwarded-Proto and X-Forwarded-Host are believed.
	Trusted []netip.Prefix
	// Grace is how long requests may take to finish after Run's context ended; 0 is 30 seconds.
	Grace time.Duration
	// Log may be nil.
	Log *slog.Logger
}

// Gateway is one running data plane.
type Gateway struct {
	config   Config
	set      *backend.Set
	reporter *feed.Reporter
	follower *feed.Follower
	forward  *forward.Forwarder
	stopping atomic.Bool
}

const defaultGrace = 30 * time.Second

// New returns a Gateway that does nothing before Run.
func New(c Config) (*Gateway, error) {
	if c.ID == "" {
		return nil, errors.New("gateway: an ID is needed")
	}
	if c.Grace == 0 {
		c.Grace = defaultGrace
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	g := &Gateway{config: c, reporter: feed.NewReporter(c.ID, c.Feeds, c.Log)}
	g.set = backend.NewSet(backend.Config{
		NewPeer: func(address string, h2c bool) backend.Peer { return peer.New(peer.Config{Address: address, H2C: h2c}) },
		Probe:   probe.New(nil).Probe,
		Wake:    g.reporter.Wake,
	})
	g.follower = feed.NewFollower(c.ID, c.Feeds, g.set, g.reporter, c.Log)
	g.forward = forward.New(forward.Config{Table: g.table, Trusted: c.Trusted, Log: c.Log})
	return g, nil
}

// Run is New and Run in one.
func Run(ctx context.Context, c Config) error {
	g, err := New(c)
	if err != nil {
		return err
	}
	return g.Run(ctx)
}

// Ready says whether the gateway holds a complete snapshot and is not stopping.
func (g *Gateway) Ready() bool { return g.follower.Table() != nil && !g.stopping.Load() }

// tableWait is how long requests are held that come before the first snapshot.
const tableWait = 10 * time.Second

func (g *Gateway) table(ctx context.Context) *forward.Table {
	if t := g.follower.Table(); t != nil {
		return t
	}
	ctx, cancel := context.WithTimeout(ctx, tableWait)
	defer cancel()
	select {
	case <-g.follower.Complete():
	case <-ctx.Done():
	}
	return g.follower.Table()
}

// Run serves until ctx ends or a listener fails. It then takes no more requests, lets those in hand finish within Grace, cuts
// the rest, and returns when all its goroutines ended: nil if ctx ended it.
func (g *Gateway) Run(ctx context.Context) error {
	// Requests and the feed outlive ctx: a request in hand may still have to wake its revision.
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var parts sync.WaitGroup
	parts.Go(func() { g.follower.Run(inner) })
	parts.Go(func() { g.reporter.Run(inner, g.set) })

	s := newServers(inner, g.config.Log)
	s.serve(g.config.External, g.forward.External())
	s.serve(g.config.Internal, g.forward.Internal())
	if g.config.Drain != nil {
		s.serve([]net.Listener{g.config.Drain}, drain.New(g.set, g.Ready))
	}
	var err error
	select {
	case err = <-s.failed:
		err = fmt.Errorf("gateway: %w", err)
	case <-ctx.Done():
	}
	g.stopping.Store(true)
	g.reporter.SetReady(false)
	s.stop(inner, g.config.Grace, cancel)
	parts.Wait()
	g.forward.Close()
	g.set.Close()
	return err
}
