// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"google.golang.org/grpc"

	"weir.dev/internal/feed/feedpb"
	"weir.dev/internal/gateway/backend"
	"weir.dev/internal/gateway/route"
)

// period is the length of a statistics period.
const period = time.Second

// Reporter keeps one report stream to every controller. Safe for use by many goroutines.
type Reporter struct {
	id    string
	conns []grpc.ClientConnInterface
	log   *slog.Logger

	mu     sync.Mutex
	ready  bool
	served map[route.Ref]*feedpb.Served
	boxes  map[*mailbox]struct{} // of the streams that are open
}

// NewReporter returns a Reporter that has nothing to say yet.
func NewReporter(id string, conns []grpc.ClientConnInterface, log *slog.Logger) *Reporter {
	return &Reporter{id: id, conns: conns, log: log, served: map[route.Ref]*feedpb.Served{}, boxes: map[*mailbox]struct{}{}}
}

// Run reports until ctx ends.
func (r *Reporter) Run(ctx context.Context, set *backend.Set) {
	var streams sync.WaitGroup
	defer streams.Wait()
	for _, conn := range r.conns {
		streams.Go(func() { r.keep(ctx, conn, set) })
	}
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			stats, pokes := measure(set)
			r.each(func(m *mailbox) { m.addStats(stats, pokes) })
		case <-ctx.Done():
			return
		}
	}
}

// Wake tells all controllers at once that requests wait for a backend without instances. It does not block.
func (r *Reporter) Wake(b *backend.Backend) { r.each(func(m *mailbox) { m.addPoke(b) }) }

// SetReady says whether this gateway counts when an Ingress is to be called ready.
func (r *Reporter) SetReady(ready bool) {
	r.mu.Lock()
	r.ready = ready
	r.mu.Unlock()
	r.each(func(m *mailbox) { m.touch() })
}

// serve notes which versions of Ingresses are routed by from now on.
func (r *Reporter) serve(served []*feedpb.Served, unserved []route.Ref) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range served {
		r.served[route.Ref{Namespace: s.GetNamespace(), Name: s.GetName()}] = s
	}
	for _, name := range unserved {
		delete(r.served, name)
	}
	for m := range r.boxes {
		m.addServed(served, unserved)
	}
}

func (r *Reporter) each(f func(*mailbox)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for m := range r.boxes {
		f(m)
	}
}

// open returns the mailbox of a new stream, with all that its controller does not know yet.
func (r *Reporter) open() *mailbox {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := newMailbox()
	maps.Copy(m.served, r.served)
	m.touch()
	r.boxes[m] = struct{}{}
	return m
}

func (r *Reporter) close(m *mailbox) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.boxes, m)
}

func (r *Reporter) isReady() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ready
}

// keep holds a stream to one controller open.
func (r *Reporter) keep(ctx context.Context, conn grpc.ClientConnInterface, set *backend.Set) {
	delay := firstDelay
	for ctx.Err() == nil {
		began := time.Now()
		err := r.report(ctx, conn, set)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > lastDelay {
			delay = firstDelay
		}
		r.log.Debug("A report stream ended", "error", err, "after", delay)
		pause(ctx, delay)
		delay = min(delay*2, lastDelay)
	}
}

func (r *Reporter) report(ctx context.Context, conn grpc.ClientConnInterface, set *backend.Set) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stream, err := feedpb.NewFeedClient(conn).Report(ctx, grpc.MaxCallRecvMsgSize(maxMessage))
	if err != nil {
		return err
	}
	var receiver sync.WaitGroup
	defer receiver.Wait()
	defer cancel(nil)
	receiver.Go(func() {
		for {
			d, err := stream.Recv()
			if err != nil {
				cancel(err)
				return
			}
			set.Drain(d.GetDrainId(), d.GetDrain())
		}
	})
	m := r.open()
	defer r.close(m)
	for {
		select {
		case <-m.news:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		message := m.take()
		message.Gateway, message.Ready = r.id, r.isReady()
		if err := stream.Send(message); err != nil {
			return err
		}
	}
}
