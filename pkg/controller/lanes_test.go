// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/util/workqueue"
)

func newTestQueue(t *testing.T) *twoLaneQueue {
	q := newTwoLaneQueue("", workqueue.NewTypedItemExponentialFailureRateLimiter[any](time.Second, time.Minute))
	t.Cleanup(q.ShutDown)
	return q
}

func drain(q *twoLaneQueue) []any {
	var keys []any
	for q.Len() > 0 {
		key, _ := q.Get()
		keys = append(keys, key)
		q.Done(key)
	}
	return keys
}

func TestLanes(t *testing.T) {
	tests := map[string]struct {
		reason string
		fill   func(*twoLaneQueue)
		want   []any
	}{
		"FastFirst": {
			reason: "what changed goes before what is only looked at again",
			fill:   func(q *twoLaneQueue) { q.AddSlow(1); q.AddSlow(2); q.Add(3) },
			want:   []any{3, 1, 2},
		},
		"Upgrade": {
			reason: "a key that waits in the slow lane and changes moves over",
			fill:   func(q *twoLaneQueue) { q.AddSlow(1); q.AddSlow(2); q.Add(2); q.AddSlow(2) },
			want:   []any{2, 1},
		},
		"NoDowngrade": {
			reason: "a key in the fast lane stays there",
			fill:   func(q *twoLaneQueue) { q.AddSlow(1); q.Add(2); q.AddSlow(2) },
			want:   []any{2, 1},
		},
		"AgainAfterUpgrade": {
			reason: "a key that moved over and was worked on may wait in the slow lane again",
			fill: func(q *twoLaneQueue) {
				q.AddSlow(1)
				q.AddSlow(2)
				q.Add(1)
				key, _ := q.Get()
				q.AddSlow(key)
				q.Done(key)
				q.Add(3)
			},
			// The slow lane keeps the place that key 1 had before it moved.
			want: []any{3, 1, 2},
		},
		"LaneOfAnAddWhileProcessing": {
			reason: "a key that is added while it is worked on waits where it was added",
			fill: func(q *twoLaneQueue) {
				q.Add(1)
				key, _ := q.Get()
				q.AddSlow(key)
				q.Add(2)
				q.Done(key)
				q.Add(3)
			},
			want: []any{2, 3, 1},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			q := newTestQueue(t)
			tc.fill(q)
			if d := cmp.Diff(tc.want, drain(q)); d != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, d)
			}
			if len(q.lanes.want) != 0 {
				t.Errorf("wishes were left behind: %v", q.lanes.want)
			}
		})
	}
}

func TestSlowLaneIsNotStarved(t *testing.T) {
	q := newTestQueue(t)
	q.AddSlow("slow")
	for i := range 3 * fastRun {
		q.Add(i)
	}
	for i := range fastRun + 1 {
		key, _ := q.Get()
		if (key == "slow") != (i == fastRun) {
			t.Fatalf("key %d is %v; the slow key comes after %d others", i, key, fastRun)
		}
		q.Done(key)
	}
}

func TestDelayedAddsAreFast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newTwoLaneQueue("", workqueue.NewTypedItemExponentialFailureRateLimiter[any](time.Second, time.Minute))
		defer q.ShutDown()
		q.AddSlow(1)
		q.AddAfter(2, time.Second)
		q.AddRateLimited(3)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if d := cmp.Diff(3, q.Len()); d != "" {
			t.Fatalf("length (-want +got):\n%s", d)
		}
		if keys := drain(q); keys[2] != 1 {
			t.Errorf("order is %v, want the slow key last", keys)
		}
	})
}
