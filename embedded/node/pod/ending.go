// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"context"
	"sync"
	"time"
)

// ending is a request to end, with a time by which to be done. The time can
// move closer while somebody waits for it, never away.
type ending struct {
	// ctx is done once the end is requested.
	ctx    context.Context
	cancel context.CancelFunc

	mu       sync.Mutex
	deadline time.Time
	moved    chan struct{}
}

func newEnding() *ending {
	ctx, cancel := context.WithCancel(context.Background())
	return &ending{ctx: ctx, cancel: cancel, moved: make(chan struct{})}
}

func (e *ending) requested() bool { return e.ctx.Err() != nil }

func (e *ending) request(grace time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	deadline := time.Now().Add(grace)
	if !e.requested() || deadline.Before(e.deadline) {
		e.deadline = deadline
		close(e.moved)
		e.moved = make(chan struct{})
	}
	e.cancel()
}

// until is the deadline, and a channel that is closed when it moves.
func (e *ending) until() (time.Time, <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.deadline, e.moved
}

// left is the time until the deadline.
func (e *ending) left() time.Duration {
	deadline, _ := e.until()
	return time.Until(deadline)
}

// before is ctx, ended also by this request.
func (e *ending) before(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(e.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}
