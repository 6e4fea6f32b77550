// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"weir.dev/pkg/apis"
	duckv1 "weir.dev/pkg/apis/duck/v1"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/reconciler"
)

// TestSettleStatus says which statuses are held back, step by step: each step is one run, at a time, with what came of it.
func TestSettleStatus(t *testing.T) {
	type step struct {
		at     time.Duration
		status corev1.ConditionStatus
		reason string
		event  reconciler.Event
		writes int           // in all, up to here
		again  time.Duration // after which the key comes back; 0 is not for this
	}
	const unknown, yes, no = corev1.ConditionUnknown, corev1.ConditionTrue, corev1.ConditionFalse
	const ms = time.Millisecond
	tests := map[string]struct {
		reason string
		object *duckv1.KResource
		steps  []step
	}{
		"result comes soon": {
			"it is all that is written", thing(),
			[]step{{0, unknown, "A", nil, 0, 500 * ms}, {100 * ms, unknown, "B", nil, 0, 400 * ms}, {200 * ms, yes, "", nil, 1, 0}},
		},
		"it takes longer": {
			"what it waits for is written once, and what it waits for then after the same time again", thing(),
			[]step{
				{0, unknown, "A", nil, 0, 500 * ms}, {500 * ms, unknown, "B", nil, 1, 0}, {510 * ms, unknown, "B", nil, 1, 0},
				{600 * ms, unknown, "C", nil, 1, 500 * ms}, {1100 * ms, unknown, "C", nil, 2, 0},
			},
		},
		"failure": {
			"is told at once", thing(),
			[]step{{0, unknown, "A", nil, 0, 500 * ms}, {1 * ms, no, "Broken", nil, 1, 0}},
		},
		"error": {
			"what a run with an error says is written at once", thing(),
			[]step{{0, unknown, "A", errBroken, 1, 0}},
		},
		"conflict": {
			"passes by itself, and so does what was seen of it", thing(),
			[]step{{0, unknown, "A", errConflict, 0, 0}, {10 * ms, yes, "", nil, 1, 0}},
		},
		"no longer ready": {
			"that nothing is known any more is news", ready(thing()),
			[]step{{0, unknown, "A", nil, 1, 0}},
		},
		"asks for another run": {
			"the sooner of both", thing(),
			[]step{{0, unknown, "A", controller.NewRequeueAfter(time.Second), 0, 500 * ms}, {1 * ms, unknown, "A", controller.NewRequeueAfter(50 * ms), 0, 50 * ms}},
		},
		"skipped": {
			"who wants no other run gets one all the same: the status is to be written", thing(),
			[]step{{0, unknown, "A", controller.NewSkipKey(key), 0, 500 * ms}, {500 * ms, unknown, "A", nil, 1, 0}},
		},
		"started anew": {
			"a result ends what was held, and the next one has all its time", thing(),
			[]step{{0, unknown, "A", nil, 0, 500 * ms}, {400 * ms, no, "Broken", nil, 1, 0}, {450 * ms, unknown, "A", nil, 2, 0}, {500 * ms, unknown, "B", nil, 2, 500 * ms}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var now step
			object := tc.object
			s := newSetup(object, reconcileFunc(func(_ context.Context, o *duckv1.KResource) reconciler.Event {
				o.GetConditionSet().Manage(o.GetStatus()).SetCondition(apis.Condition{Type: apis.ConditionReady, Status: now.status, Reason: now.reason})
				return now.event
			}))
			s.config.Options.SettleStatus = 500 * ms
			r, start := New(s.config), time.Now()
			r.unsettled.now = func() time.Time { return start.Add(now.at) }
			lead(t, r)
			for i, st := range tc.steps {
				now = st
				err := r.Reconcile(t.Context(), key)
				object.Status = *s.client.stored.Status.DeepCopy() // the cache follows
				requeue, again := controller.IsRequeueKey(err)
				if err != nil && !requeue && !errors.Is(err, st.event) {
					t.Fatalf("step %d: %v", i, err)
				}
				if writes := len(slices.DeleteFunc(slices.Clone(s.client.writes), func(w string) bool { return w != "status" })); writes != st.writes || again != st.again {
					t.Errorf("%s: step %d: %d writes, again after %v; want %d, %v", tc.reason, i, writes, again, st.writes, st.again)
				}
			}
		})
	}
}
