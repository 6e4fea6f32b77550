// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"
)

// twoLaneQueue is a work queue whose keys wait in one of two lanes: what
// changed in the fast one, what is only looked at again in the slow one. A key
// is in one lane at a time, and never with two workers.
type twoLaneQueue struct {
	workqueue.TypedRateLimitingInterface[any]
	plain   workqueue.TypedInterface[any]
	lanes   *lanes
	metrics *queueMetrics
}

func newTwoLaneQueue(name string, limiter workqueue.TypedRateLimiter[any]) *twoLaneQueue {
	l, metrics := newLanes(), &queueMetrics{}
	plain := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[any]{Name: name, Queue: l, MetricsProvider: metrics})
	delaying := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[any]{
		Name: name, Queue: fastLane{TypedInterface: plain, lanes: l}, MetricsProvider: metrics,
	})
	return &twoLaneQueue{
		TypedRateLimitingInterface: workqueue.NewTypedRateLimitingQueueWithConfig(limiter,
			workqueue.TypedRateLimitingQueueConfig[any]{Name: name, DelayingQueue: delaying}),
		plain:   plain,
		lanes:   l,
		metrics: metrics,
	}
}

// AddSlow adds a key to the slow lane, unless it is in the fast one.
func (q *twoLaneQueue) AddSlow(key any) {
	q.lanes.ask(key, slow)
	q.plain.Add(key)
}

// fastLane is a queue whose Add means the fast lane.
type fastLane struct {
	workqueue.TypedInterface[any]
	lanes *lanes
}

func (f fastLane) Add(key any) {
	f.lanes.ask(key, fast)
	f.TypedInterface.Add(key)
}

// newRateLimiter spaces the retries of a key from 5 ms up to a minute, and
// those of all keys together to 100 a second after a burst of 1,000.
func newRateLimiter() workqueue.TypedRateLimiter[any] {
	return workqueue.NewTypedMaxOfRateLimiter(
		workqueue.NewTypedItemExponentialFailureRateLimiter[any](5*time.Millisecond, time.Minute),
		&workqueue.TypedBucketRateLimiter[any]{Limiter: rate.NewLimiter(100, 1000)},
	)
}
