// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package controller runs a Reconciler: a queue of keys that event handlers
// feed, workers that take them, and what becomes of the errors they return.
// It knows no kind and no client.
package controller

import (
	"context"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"

	"weir.dev/pkg/logging"
	"weir.dev/pkg/reconciler"
	"weir.dev/pkg/tracker"
)

// Reconciler makes the world look as the object at key says. The key is
// namespace/name, or name for what has no namespace. See the errors of this
// package for what a returned error does; any other is tried again, ever
// later. It may be called for a key that does not exist.
type Reconciler interface {
	Reconcile(ctx context.Context, key string) error
}

// Impl is a controller: a reconciler with its queue.
type Impl struct {
	// Name is the controller's name in logs, metrics and leases.
	Name string
	// Reconciler does the work. One that is not leader-aware is made so: keys
	// that this replica does not lead wait until it does.
	Reconciler Reconciler
	// Concurrency is how many keys are worked on at once.
	Concurrency int
	// Tracker enqueues what depends on objects that changed.
	Tracker tracker.Interface

	queue  *twoLaneQueue
	logger *zap.SugaredLogger
	gate   *leaderGate // nil when the reconciler is leader-aware itself
	runs   *runs       // set while the controller runs, as is tracer
	tracer trace.Tracer
	began  atomic.Bool
	ended  []func() // called after the workers, see AfterEnd
}

// NewImpl makes a controller of a reconciler. Event handlers that call its
// Enqueue methods are set up by the caller.
func NewImpl(r Reconciler, logger *zap.SugaredLogger, workQueueName string) *Impl {
	return NewContext(context.Background(), r, ControllerOptions{WorkQueueName: workQueueName, Logger: logger})
}

// NewContext is NewImpl with options, and with the tracker and resync period of ctx.
func NewContext(ctx context.Context, r Reconciler, options ControllerOptions) *Impl {
	if options.RateLimiter == nil {
		options.RateLimiter = newRateLimiter()
	}
	if options.Concurrency == 0 {
		options.Concurrency = getThreads(ctx)
	}
	if options.Logger == nil {
		options.Logger = logging.FromContext(ctx)
	}
	c := &Impl{
		Name:        options.WorkQueueName,
		Reconciler:  r,
		Concurrency: options.Concurrency,
		Tracker:     GetTracker(ctx),
		queue:       newTwoLaneQueue(options.WorkQueueName, options.RateLimiter),
		logger:      options.Logger,
	}
	if _, ok := r.(reconciler.LeaderAware); !ok {
		c.gate = newLeaderGate()
	}
	if c.Tracker == nil {
		c.Tracker = tracker.New(c.EnqueueKey, GetTrackerLease(ctx))
	}
	return c
}

// WorkQueue is the controller's queue; its items are types.NamespacedName.
func (c *Impl) WorkQueue() workqueue.TypedRateLimitingInterface[any] { return c.queue }

// AfterEnd has f called once: when the controller has ended, or, where it never
// ran, with ctx. It is for constructors, for what workers need to their end.
func (c *Impl) AfterEnd(ctx context.Context, f func()) {
	once := sync.OnceFunc(f)
	c.ended = append(c.ended, once)
	context.AfterFunc(ctx, func() {
		if !c.began.Load() {
			once()
		}
	})
}

// leaderAware is who hears of leadership.
func (c *Impl) leaderAware() reconciler.LeaderAware {
	if la, ok := c.Reconciler.(reconciler.LeaderAware); ok {
		return la
	}
	return c.gate
}

// keyString is the form of a key that reconcilers get.
func keyString(key types.NamespacedName) string {
	if key.Namespace == "" {
		return key.Name
	}
	return key.String()
}
