// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	duckv1 "weir.dev/pkg/apis/duck/v1"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/reconciler"
)

// TestFinalizesOnce: whatever the cache shows and whoever else writes the
// object, it is finalized once, and not after its finalizer is gone.
func TestFinalizesOnce(t *testing.T) {
	const withOther = `patch {"metadata":{"finalizers":["other"],"resourceVersion":"7"}}`
	tests := map[string]struct {
		reason     string
		mutate     func(*setup)
		wantCalls  int
		wantWrites []string
	}{
		"CacheIsRight": {
			reason:     "the object is as the cache shows it",
			mutate:     func(*setup) {},
			wantCalls:  1,
			wantWrites: []string{withOther},
		},
		"FinalizerIsGone": {
			reason: "the cache does not show yet that the finalizer was removed",
			mutate: func(s *setup) { s.client.stored.Finalizers = []string{"other"} },
		},
		"AnotherOfThatName": {
			reason: "the cache does not show yet that the object went and another came",
			mutate: func(s *setup) { s.client.stored.UID = "another" },
		},
		"Conflicts": {
			reason:     "somebody else writes the object while the finalizer is removed",
			mutate:     func(s *setup) { s.client.refused = 2 },
			wantCalls:  1,
			wantWrites: []string{withOther, withOther, withOther},
		},
		"ChangedMeanwhile": {
			reason: "what is removed is the finalizer of the object as it is stored",
			mutate: func(s *setup) {
				s.client.stored.Finalizers, s.client.stored.ResourceVersion = []string{finalizer}, "8"
			},
			wantCalls:  1,
			wantWrites: []string{`patch {"metadata":{"finalizers":[],"resourceVersion":"8"}}`},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			calls := 0
			s := newSetup(deleting(thing(), "other", finalizer), withFinalizer{never(t), func(context.Context, *duckv1.KResource) reconciler.Event {
				calls++
				return nil
			}})
			tc.mutate(s)
			r := New(s.config)
			lead(t, r)
			if err := r.Reconcile(t.Context(), key); err != nil {
				t.Errorf("%s: %v", tc.reason, err)
			}
			if calls != tc.wantCalls {
				t.Errorf("%s: finalized %d times, want %d", tc.reason, calls, tc.wantCalls)
			}
			if d := cmp.Diff(tc.wantWrites, s.client.writes, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("%s: writes (-want +got):\n%s", tc.reason, d)
			}
		})
	}
}

// TestFinalizationEndsWithLeadership: FinalizeKind is told when another replica
// may take over. What it did not complete is that one's; what it completed is
// over, and the finalizer goes.
func TestFinalizationEndsWithLeadership(t *testing.T) {
	tests := map[string]struct {
		reason     string
		event      func(context.Context) reconciler.Event
		wantSkip   bool
		wantWrites []string
	}{
		"GivesUp": {
			reason:   "the next leader does it",
			event:    func(ctx context.Context) reconciler.Event { return ctx.Err() },
			wantSkip: true,
		},
		"Completes": {
			reason:     "it must not be done twice",
			event:      func(context.Context) reconciler.Event { return nil },
			wantWrites: []string{`patch {"metadata":{"finalizers":[],"resourceVersion":"7"}}`},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			working := make(chan struct{})
			s := newSetup(deleting(thing(), finalizer), withFinalizer{reconcileFunc: never(t), finalize: func(ctx context.Context, _ *duckv1.KResource) reconciler.Event {
				close(working)
				<-ctx.Done()
				return tc.event(ctx)
			}})
			r := New(s.config)
			lead(t, r)
			go func() {
				<-working
				r.Demote(reconciler.UniversalBucket())
			}()
			err := r.Reconcile(t.Context(), key)
			if skipped := controller.IsSkipKey(err); skipped != tc.wantSkip || !skipped && err != nil {
				t.Errorf("%s: got %v", tc.reason, err)
			}
			if d := cmp.Diff(tc.wantWrites, s.client.writes, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("%s: writes (-want +got):\n%s", tc.reason, d)
			}
			if tc.wantSkip && len(s.events()) > 0 {
				t.Errorf("%s: events %v", tc.reason, s.events())
			}
		})
	}
}
