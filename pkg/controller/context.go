// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"time"

	"k8s.io/client-go/tools/record"

	"weir.dev/pkg/tracker"
)

// DefaultResyncPeriod is how often informers hand out everything again.
const DefaultResyncPeriod = 10 * time.Hour

type (
	resyncPeriodKey  struct{}
	trackerKey       struct{}
	eventRecorderKey struct{}
	threadsKey       struct{}
)

// WithThreads returns a context whose controllers work on that many keys at
// once unless they say themselves.
func WithThreads(ctx context.Context, threads int) context.Context {
	return context.WithValue(ctx, threadsKey{}, threads)
}

func getThreads(ctx context.Context) int {
	if threads, ok := ctx.Value(threadsKey{}).(int); ok && threads > 0 {
		return threads
	}
	return DefaultThreadsPerController
}

// WithResyncPeriod returns a context with that resync period.
func WithResyncPeriod(ctx context.Context, resync time.Duration) context.Context {
	return context.WithValue(ctx, resyncPeriodKey{}, resync)
}

// GetResyncPeriod is the resync period of ctx, by default DefaultResyncPeriod.
func GetResyncPeriod(ctx context.Context) time.Duration {
	if resync, ok := ctx.Value(resyncPeriodKey{}).(time.Duration); ok {
		return resync
	}
	return DefaultResyncPeriod
}

// GetTrackerLease is how long a tracked reference counts: three resync
// periods, so that a missed one does no harm.
func GetTrackerLease(ctx context.Context) time.Duration { return 3 * GetResyncPeriod(ctx) }

// WithTracker returns a context with that tracker.
func WithTracker(ctx context.Context, t tracker.Interface) context.Context {
	return context.WithValue(ctx, trackerKey{}, t)
}

// GetTracker is the tracker of ctx, or nil.
func GetTracker(ctx context.Context) tracker.Interface {
	t, _ := ctx.Value(trackerKey{}).(tracker.Interface)
	return t
}

// WithEventRecorder returns a context with that event recorder.
func WithEventRecorder(ctx context.Context, er record.EventRecorder) context.Context {
	return context.WithValue(ctx, eventRecorderKey{}, er)
}

// GetEventRecorder is the event recorder of ctx, or nil. Inside a reconcile
// there is one.
func GetEventRecorder(ctx context.Context) record.EventRecorder {
	er, _ := ctx.Value(eventRecorderKey{}).(record.EventRecorder)
	return er
}
