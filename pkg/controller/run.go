// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/apimachinery/pkg/types"

	"weir.dev/pkg/leaderelection"
	"weir.dev/pkg/logging"
	"weir.dev/pkg/logging/logkey"
	"weir.dev/pkg/observability"
)

// Run is RunContext with the controller's Concurrency.
func (c *Impl) Run(ctx context.Context) error { return c.RunContext(ctx, c.Concurrency) }

// RunContext competes for leadership and works on the queue with that many
// workers until ctx ends. It returns once the workers have ended and, after
// them, leadership is given up: nobody else begins while this replica still works.
func (c *Impl) RunContext(ctx context.Context, threadiness int) error {
	elector, err := leaderelection.BuildElector(ctx, c.leaderAware(), c.Name, c.MaybeEnqueueBucketKey)
	if err != nil {
		return fmt.Errorf("controller %s: %w", c.Name, err)
	}
	unpublish, err := c.publish(ctx)
	if err != nil {
		return err
	}
	defer unpublish()
	c.began.Store(true)
	defer func() {
		for _, f := range c.ended {
			f()
		}
	}()
	leading, resign := context.WithCancel(context.WithoutCancel(ctx))
	var election, workers sync.WaitGroup
	election.Go(func() { elector.Run(leading) })
	for range threadiness {
		workers.Go(func() {
			for c.processNext(ctx) {
			}
		})
	}

	<-ctx.Done()
	c.queue.ShutDown()
	workers.Wait()
	resign()
	election.Wait()
	return nil
}

// publish begins to record metrics and traces with the providers of ctx.
func (c *Impl) publish(ctx context.Context) (func(), error) {
	var err error
	c.tracer = observability.GetTracerProvider(ctx).Tracer(scope)
	if c.runs, err = newRuns(ctx, c.Name); err != nil {
		return nil, err
	}
	return c.queue.metrics.publish(ctx, c.Name)
}

// processNext works on one key; it returns false when the queue is shut down.
func (c *Impl) processNext(ctx context.Context) bool {
	item, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(item)
	if ctx.Err() != nil {
		return true // what still waits at the end is dropped
	}
	key := item.(types.NamespacedName)
	if c.gate != nil && !c.gate.lets(key) {
		c.queue.Forget(key)
		return true
	}

	name := keyString(key)
	ctx, end := c.trace(ctx, name)
	err := c.reconcile(ctx, name)
	end(err)
	c.settle(ctx, key, err)
	return true
}

// trace returns a context whose log entries can be told from those of other
// runs: by the trace where there is one.
func (c *Impl) trace(ctx context.Context, key string) (context.Context, func(error)) {
	ctx, span := c.tracer.Start(ctx, "reconcile", trace.WithAttributes(
		attribute.String("controller", c.Name), attribute.String("key", key)))
	id := uuid.NewString
	if span.SpanContext().HasTraceID() {
		id = span.SpanContext().TraceID().String
	}
	// Most runs log nothing: their fields are not encoded.
	ctx = logging.WithLogger(ctx, c.logger.WithLazy(logkey.TraceID, id(), logkey.Key, key))
	return ctx, func(err error) {
		if o := outcomeOf(ctx, err); o == failed || o == permanent {
			span.SetStatus(codes.Error, err.Error())
		}
		span.End()
	}
}

// reconcile turns a panic into an error: one broken object must not end the
// work on all others.
func (c *Impl) reconcile(ctx context.Context, key string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("reconcile panicked: %v\n%s", r, debug.Stack())
		}
	}()
	return c.Reconciler.Reconcile(ctx, key)
}

// staleTries is how often a key may act on outdated reads before that is worth
// an error in the log: what does not pass by then is no delay of the cache.
const staleTries = 10

// settle decides what becomes of a key after its run.
func (c *Impl) settle(ctx context.Context, key types.NamespacedName, err error) {
	o := outcomeOf(ctx, err)
	c.runs.count(ctx, o)
	tries := c.queue.NumRequeues(key)
	switch o {
	case stale, failed:
		c.queue.AddRateLimited(key)
	case requeued:
		_, after := IsRequeueKey(err)
		c.queue.Forget(key)
		c.queue.AddAfter(key, after)
	default:
		c.queue.Forget(key)
	}
	report(ctx, o, tries, err)
}

// report logs what went wrong.
func report(ctx context.Context, o outcome, tries int, err error) {
	if err == nil {
		return
	}
	logger := logging.FromContext(ctx)
	switch {
	case o == permanent:
		logger.Errorw("Reconcile failed for good", "error", err)
	case o == failed, o == stale && tries >= staleTries:
		logger.Errorw("Reconcile failed, will try again", "error", err)
	case o == stale:
		logger.Debugw("Reconcile acted on an outdated read, will try again", "error", err)
	case IsNamespaceTerminating(err):
		logger.Debugw("Reconcile ended: the namespace is being deleted", "error", err)
	}
}
