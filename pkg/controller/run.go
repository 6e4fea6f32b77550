// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/types"

	"weir.dev/pkg/leaderelection"
	"weir.dev/pkg/logging"
	"weir.dev/pkg/logging/logkey"
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

	logger := c.logger.With(logkey.TraceID, uuid.NewString(), logkey.Key, keyString(key))
	ctx = logging.WithLogger(ctx, logger)
	c.settle(ctx, key, c.reconcile(ctx, key))
	return true
}

// reconcile turns a panic into an error: one broken object must not end the
// work on all others.
func (c *Impl) reconcile(ctx context.Context, key types.NamespacedName) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("reconcile panicked: %v\n%s", r, debug.Stack())
		}
	}()
	return c.Reconciler.Reconcile(ctx, keyString(key))
}

// staleTries is how often a key may act on outdated reads before that is worth
// an error in the log: what does not pass by then is no delay of the cache.
const staleTries = 10

// settle decides what becomes of a key after its run.
func (c *Impl) settle(ctx context.Context, key types.NamespacedName, err error) {
	logger := logging.FromContext(ctx)
	requeue, after := IsRequeueKey(err)
	switch {
	case err == nil, IsSkipKey(err):
		c.queue.Forget(key)
	case requeue:
		c.queue.Forget(key)
		c.queue.AddAfter(key, after)
	case IsNamespaceTerminating(err):
		c.queue.Forget(key)
		logger.Debugw("Reconcile ended: the namespace is being deleted", "error", err)
	case IsPermanentError(err):
		c.queue.Forget(key)
		logger.Errorw("Reconcile failed for good", "error", err)
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		c.queue.Forget(key)
	case IsStaleRead(err) && c.queue.NumRequeues(key) < staleTries:
		c.queue.AddRateLimited(key)
		logger.Debugw("Reconcile acted on an outdated read, will try again", "error", err)
	default:
		c.queue.AddRateLimited(key)
		logger.Errorw("Reconcile failed, will try again", "error", err)
	}
}
