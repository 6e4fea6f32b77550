// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"google.golang.org/grpc"

	"weir.dev/internal/feed/feedpb"
	"weir.dev/internal/gateway/backend"
	"weir.dev/internal/gateway/forward"
)

// Back-off between attempts to follow a controller.
const (
	firstDelay = 50 * time.Millisecond
	lastDelay  = 3 * time.Second
)

// maxMessage bounds what a controller sends at once: a directive, or an update. Controllers send snapshots in parts; this only has to be larger than one part.
const maxMessage = 64 << 20

// Follower keeps a set of backends and a routing table as a controller wants them. Between controllers it keeps what it has.
type Follower struct {
	id       string
	conns    []grpc.ClientConnInterface
	reporter *Reporter
	state    *state
	complete chan struct{} // closed when the first snapshot is in place
	log      *slog.Logger
}

// NewFollower returns a Follower that fills set, and tells reporter what is served.
func NewFollower(id string, conns []grpc.ClientConnInterface, set *backend.Set, reporter *Reporter, log *slog.Logger) *Follower {
	return &Follower{id: id, conns: conns, reporter: reporter, state: newState(set), complete: make(chan struct{}), log: log}
}

// Table returns the present routing table; nil before the first complete snapshot.
func (f *Follower) Table() *forward.Table { return f.state.table.Load() }

// Complete is closed when the first snapshot is in place.
func (f *Follower) Complete() <-chan struct{} { return f.complete }

// Run follows one controller at a time until ctx ends.
func (f *Follower) Run(ctx context.Context) {
	delay := firstDelay
	for n := 0; ctx.Err() == nil && len(f.conns) > 0; n++ {
		synced, err := f.follow(ctx, f.conns[n%len(f.conns)])
		if ctx.Err() != nil {
			return
		}
		if synced {
			delay = firstDelay
		}
		f.log.Info("The feed of a controller ended; another is followed", "error", err, "after", delay)
		pause(ctx, delay)
		delay = min(delay*2, lastDelay)
	}
}

// follow applies what one controller sends. synced says that its snapshot was complete.
func (f *Follower) follow(ctx context.Context, conn grpc.ClientConnInterface) (synced bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := feedpb.NewFeedClient(conn).Follow(ctx, &feedpb.FollowRequest{Gateway: f.id}, grpc.MaxCallRecvMsgSize(maxMessage))
	if err != nil {
		return false, fmt.Errorf("following a controller: %w", err)
	}
	pending := newBatch()
	for {
		update, err := stream.Recv()
		if err != nil {
			return synced, fmt.Errorf("following a controller: %w", err)
		}
		pending.add(update.GetEvents())
		if !synced && !update.GetComplete() {
			continue
		}
		if !synced {
			f.state.resync(pending)
		}
		f.reporter.serve(f.state.apply(pending))
		if !synced {
			synced = true
			f.ready()
		}
		pending = newBatch()
	}
}

func (f *Follower) ready() {
	select {
	case <-f.complete:
	default:
		close(f.complete)
		f.reporter.SetReady(true)
		f.log.Info("The first snapshot is in place", "ingresses", len(f.state.ingresses), "backends", len(f.state.backends))
	}
}

// pause waits, a little longer or shorter than asked, so that gateways do not come all at once.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d/2 + rand.N(d))
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
