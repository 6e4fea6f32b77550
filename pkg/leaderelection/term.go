// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package leaderelection

import (
	"context"
	"sync"

	"k8s.io/client-go/tools/leaderelection"

	"weir.dev/pkg/logging"
	"weir.dev/pkg/reconciler"
)

// term is the leadership of one bucket. client-go announces the beginning from
// a goroutine of its own, which may come after the end: term keeps the order.
type term struct {
	ctx    context.Context
	la     reconciler.LeaderAware
	bucket reconciler.Bucket
	enq    Enqueue

	mu   sync.Mutex
	held bool
}

func newTerm(ctx context.Context, la reconciler.LeaderAware, bucket reconciler.Bucket, enq Enqueue) *term {
	return &term{ctx: ctx, la: la, bucket: bucket, enq: enq}
}

func (t *term) callbacks() leaderelection.LeaderCallbacks {
	return leaderelection.LeaderCallbacks{OnStartedLeading: t.begin, OnStoppedLeading: t.end}
}

// begin promotes unless the lease, which ctx stands for, is lost already.
func (t *term) begin(ctx context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if ctx.Err() != nil || t.held {
		return
	}
	t.held = true
	logger := logging.FromContext(t.ctx) //nolint:contextcheck // the logger is the controller's, the ctx client-go's
	logger.Infow("Became the leader", "bucket", t.bucket.Name())
	if err := t.la.Promote(t.bucket, t.enq); err != nil {
		logger.Errorw("Promoting the reconciler failed", "bucket", t.bucket.Name(), "error", err)
	}
}

// end demotes; client-go calls it also when there was no beginning.
func (t *term) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.held {
		return
	}
	t.held = false
	logging.FromContext(t.ctx).Infow("Is no longer the leader", "bucket", t.bucket.Name())
	t.la.Demote(t.bucket)
}
