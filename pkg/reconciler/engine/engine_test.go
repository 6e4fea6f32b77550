// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"weir.dev/pkg/apis"
	duckv1 "weir.dev/pkg/apis/duck/v1"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/reconciler"
)

const (
	key       = "ns/thing"
	finalizer = "things.test.weir.dev"
)

var (
	errBroken   = errors.New("broken")
	errConflict = apierrors.NewConflict(testResource, "thing", errors.New("changed"))
	errExists   = apierrors.NewAlreadyExists(testResource, "thing")

	errTerminating = &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonForbidden, Details: &metav1.StatusDetails{
		Causes: []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}},
	}}}
)

// reconcileFunc is a typed reconciler; the types around it add what it also is.
type reconcileFunc func(ctx context.Context, o *duckv1.KResource) reconciler.Event

func (f reconcileFunc) ReconcileKind(ctx context.Context, o *duckv1.KResource) reconciler.Event {
	return f(ctx, o)
}

type withFinalizer struct {
	reconcileFunc
	finalize reconcileFunc
}

func (f withFinalizer) FinalizeKind(ctx context.Context, o *duckv1.KResource) reconciler.Event {
	return f.finalize(ctx, o)
}

type withObserver struct {
	reconcileFunc
	observe reconcileFunc
}

func (f withObserver) ObserveKind(ctx context.Context, o *duckv1.KResource) reconciler.Event {
	return f.observe(ctx, o)
}

func returns(event reconciler.Event) reconcileFunc {
	return func(context.Context, *duckv1.KResource) reconciler.Event { return event }
}

// marks returns a reconciler that sets Ready and returns event.
func marks(status corev1.ConditionStatus, event reconciler.Event) reconcileFunc {
	return func(_ context.Context, o *duckv1.KResource) reconciler.Event {
		manager := o.GetConditionSet().Manage(o.GetStatus())
		if status == corev1.ConditionTrue {
			manager.MarkTrue(apis.ConditionReady)
		} else {
			manager.MarkFalse(apis.ConditionReady, "Because", "of it")
		}
		return event
	}
}

func never(t *testing.T) reconcileFunc {
	return func(context.Context, *duckv1.KResource) reconciler.Event {
		t.Error("the method was called, and must not be")
		return nil
	}
}

// TestOneRun says what one run of a key writes, records and returns.
func TestOneRun(t *testing.T) {
	event := reconciler.NewEvent(corev1.EventTypeNormal, "Done", "all of %d", 3)
	warning := reconciler.NewEvent(corev1.EventTypeWarning, "Odd", "hm")

	tests := map[string]struct {
		reason     string
		object     *duckv1.KResource
		reconciler Interface[*duckv1.KResource]
		mutate     func(*setup)
		notLeader  bool
		wantErr    error
		wantWrites []string
		wantEvents []string
		wantStatus string
	}{
		"NothingToDo": {
			reason:     "an object that is as it should be costs no request",
			object:     ready(thing()),
			reconciler: marks(corev1.ConditionTrue, nil),
			wantStatus: "1 Ready=True",
		},
		"StatusChanges": {
			reason:     "a new status is written once",
			object:     thing(),
			reconciler: marks(corev1.ConditionTrue, nil),
			wantWrites: []string{"status"},
			wantStatus: "1 Ready=True",
		},
		"SkipStatusUpdates": {
			reason:     "the option keeps the status from being written",
			object:     thing(),
			reconciler: marks(corev1.ConditionTrue, nil),
			mutate:     func(s *setup) { s.config.Options.SkipStatusUpdates = true },
			wantStatus: "0 Ready=",
		},
		"SpecIsIgnored": {
			reason: "a change outside the status is lost and no reason to write",
			object: ready(thing()),
			reconciler: reconcileFunc(func(_ context.Context, o *duckv1.KResource) reconciler.Event {
				o.Labels = map[string]string{"a": "b"}
				return nil
			}),
			wantStatus: "1 Ready=True",
		},
		"Error": {
			reason:     "an error is recorded and returned, and the status that came before it is written",
			object:     thing(),
			reconciler: marks(corev1.ConditionFalse, errBroken),
			wantErr:    errBroken,
			wantWrites: []string{"status"},
			wantEvents: []string{"Warning InternalError broken"},
			wantStatus: "1 Ready=False Because",
		},
		"ErrorBeforeAnyCondition": {
			reason:     "a reconcile of a new generation that fails early says so",
			object:     generation(ready(thing()), 2),
			reconciler: returns(errBroken),
			wantErr:    errBroken,
			wantWrites: []string{"status"},
			wantEvents: []string{"Warning InternalError broken"},
			wantStatus: "2 Ready=Unknown NewObservedGenFailure",
		},
		"Panic": {
			reason: "a panic is an error: recorded, tried again, and its half-made status dropped",
			object: ready(thing()),
			reconciler: reconcileFunc(func(ctx context.Context, o *duckv1.KResource) reconciler.Event {
				_ = marks(corev1.ConditionFalse, nil)(ctx, o)
				panic("boom")
			}),
			wantErr:    panicError{"boom"},
			wantEvents: []string{"Warning InternalError the reconciler panicked: boom"},
			wantStatus: "1 Ready=True",
		},
		"NilEvent": {
			reason:     "a nil *ReconcilerEvent is meant as nil",
			object:     ready(thing()),
			reconciler: returns((*reconciler.ReconcilerEvent)(nil)),
			wantStatus: "1 Ready=True",
		},
		"EventIsSuccess": {
			reason:     "an event returned as it is is recorded and no error",
			object:     ready(thing()),
			reconciler: returns(event),
			wantEvents: []string{"Normal Done all of 3"},
			wantStatus: "1 Ready=True",
		},
		"WarningIsSuccess": {
			reason:     "so is a warning",
			object:     ready(thing()),
			reconciler: returns(warning),
			wantEvents: []string{"Warning Odd hm"},
			wantStatus: "1 Ready=True",
		},
		"WrappedEventIsError": {
			reason:     "an event inside an error is recorded, and the key tried again",
			object:     ready(thing()),
			reconciler: returns(fmt.Errorf("outer: %w", event)),
			wantErr:    event,
			wantEvents: []string{"Normal Done all of 3"},
			wantStatus: "1 Ready=True",
		},
		"Conflict": {
			reason:     "a conflict passes by itself and concerns no user",
			object:     ready(thing()),
			reconciler: returns(fmt.Errorf("updating the child: %w", errConflict)),
			wantErr:    errConflict,
			wantStatus: "1 Ready=True",
		},
		"MetadataIgnored": {
			reason:     "edits of metadata are ignored unless asked for",
			object:     ready(thing()),
			reconciler: relabels(nil),
			wantStatus: "1 Ready=True",
		},
		"MetadataSynced": {
			reason:     "what is new or changed is written, what was dropped goes",
			object:     labelled(ready(thing()), map[string]string{"stays": "1", "goes": "1", "changes": "1"}),
			mutate:     func(s *setup) { s.config.Options.SyncMetadata = true },
			reconciler: relabels(nil),
			wantWrites: []string{`patch {"metadata":{"annotations":{"note":"x"},"labels":{"changes":"2","goes":null,"new":"3"},"uid":"u"}}`},
			wantStatus: "1 Ready=True",
		},
		"MetadataSyncedAlready": {
			reason:     "nothing changed, nothing is written",
			object:     labelled(ready(thing()), map[string]string{"stays": "1"}),
			mutate:     func(s *setup) { s.config.Options.SyncMetadata = true },
			reconciler: returns(nil),
			wantStatus: "1 Ready=True",
		},
		"MetadataAndFailure": {
			reason:     "as with the status, the outcome of the run does not matter",
			object:     labelled(ready(thing()), map[string]string{"stays": "1", "goes": "1", "changes": "1"}),
			mutate:     func(s *setup) { s.config.Options.SyncMetadata = true },
			reconciler: relabels(errBroken),
			wantErr:    errBroken,
			wantEvents: []string{"Warning InternalError broken"},
			wantWrites: []string{`patch {"metadata":{"annotations":{"note":"x"},"labels":{"changes":"2","goes":null,"new":"3"},"uid":"u"}}`},
			wantStatus: "1 Ready=True",
		},
		"AlreadyExists": {
			reason:     "what exists by now will be seen by the next run and concerns no user",
			object:     ready(thing()),
			reconciler: returns(fmt.Errorf("creating the child: %w", errExists)),
			wantErr:    errExists,
			wantStatus: "1 Ready=True",
		},
		"NamespaceTerminating": {
			reason:     "what goes with its namespace has nothing to tell a user",
			object:     ready(thing()),
			reconciler: returns(fmt.Errorf("creating the child: %w", errTerminating)),
			wantErr:    errTerminating,
			wantStatus: "1 Ready=True",
		},
		"Requeue": {
			reason:     "asking for another run is no failure",
			object:     ready(thing()),
			reconciler: returns(controller.NewRequeueAfter(time.Second)),
			wantErr:    controller.NewRequeueAfter(time.Second),
			wantStatus: "1 Ready=True",
		},
		"StatusConflict": {
			reason:     "a status that meets a conflict is written to the object as it is now",
			object:     thing(),
			reconciler: marks(corev1.ConditionTrue, nil),
			mutate:     func(s *setup) { s.client.conflicts = 2 },
			wantWrites: []string{"status", "status", "status"},
			wantStatus: "1 Ready=True",
		},
		"StatusConflictsOn": {
			reason:     "conflicts that outlast the retries are for the queue, not for users",
			object:     thing(),
			reconciler: marks(corev1.ConditionTrue, nil),
			mutate:     func(s *setup) { s.client.conflicts = 100 },
			wantWrites: []string{"status", "status", "status", "status", "status", "status"},
			wantErr:    errConflict,
			wantStatus: "0 Ready=",
		},
		"StatusConflictOfAStaleCache": {
			reason:     "nothing is written when the stored status turns out to be the same",
			object:     thing(),
			reconciler: marks(corev1.ConditionTrue, nil),
			mutate: func(s *setup) {
				s.client.conflicts = 1
				s.client.stored = ready(thing())
			},
			wantWrites: []string{"status"},
			wantStatus: "1 Ready=True",
		},
		"StatusOfAnother": {
			reason:     "an object of the same name made since has a status of its own",
			object:     thing(),
			reconciler: marks(corev1.ConditionTrue, nil),
			mutate: func(s *setup) {
				s.client.conflicts = 1
				s.client.stored.UID = "another"
			},
			wantWrites: []string{"status"},
			wantStatus: "0 Ready=",
		},
		"StatusFails": {
			reason:     "a status that cannot be written is recorded and returned",
			object:     thing(),
			reconciler: marks(corev1.ConditionTrue, nil),
			mutate:     func(s *setup) { s.client.err = errBroken },
			wantErr:    errBroken,
			wantWrites: []string{"status"},
			wantEvents: []string{`Warning UpdateFailed Failed to update status for "thing": broken`},
			wantStatus: "0 Ready=",
		},
		"NotLeader": {
			reason:     "another replica's key is skipped",
			object:     thing(),
			reconciler: never(t),
			notLeader:  true,
			wantErr:    controller.NewSkipKey(key),
			wantStatus: "0 Ready=",
		},
		"Observer": {
			reason:     "an observer sees it and nothing is written, not even an event",
			object:     thing(),
			reconciler: withObserver{never(t), marks(corev1.ConditionTrue, event)},
			notLeader:  true,
			wantStatus: "0 Ready=",
		},
		"OtherClass": {
			reason:     "objects of another class are not ours",
			object:     class(thing(), "theirs"),
			reconciler: never(t),
			mutate:     classes,
			wantStatus: "0 Ready=",
		},
		"OurClassFirst": {
			reason:     "the first annotation that is present decides",
			object:     class(thing(), "ours"),
			reconciler: marks(corev1.ConditionTrue, nil),
			mutate:     classes,
			wantWrites: []string{"status"},
			wantStatus: "1 Ready=True",
		},
		"Deleting": {
			reason:     "without a finalizer of ours deletion is others' work",
			object:     deleting(thing()),
			reconciler: never(t),
			wantStatus: "0 Ready=",
		},
		"AddsFinalizer": {
			reason:     "the finalizer is there before anything is done",
			object:     ready(thing()),
			reconciler: withFinalizer{marks(corev1.ConditionTrue, nil), never(t)},
			wantWrites: []string{`patch {"metadata":{"finalizers":["things.test.weir.dev"],"resourceVersion":"7"}}`},
			wantEvents: []string{`Normal FinalizerUpdate Updated "thing" finalizers`},
			wantStatus: "1 Ready=True",
		},
		"FinalizerFails": {
			reason:     "without the finalizer nothing is done",
			object:     thing(),
			reconciler: withFinalizer{never(t), never(t)},
			mutate:     func(s *setup) { s.client.err = errBroken },
			wantErr:    errBroken,
			wantWrites: []string{`patch {"metadata":{"finalizers":["things.test.weir.dev"],"resourceVersion":"7"}}`},
			wantEvents: []string{`Warning FinalizerUpdateFailed Failed to update finalizers for "thing": broken`},
			wantStatus: "0 Ready=",
		},
		"FinalizerOfWhatIsGone": {
			reason:     "the cache is behind: there is nothing left to finalize, or to tell",
			object:     thing(),
			reconciler: withFinalizer{never(t), never(t)},
			mutate:     func(s *setup) { s.client.err = apierrors.NewNotFound(testResource, "thing") },
			wantWrites: []string{`patch {"metadata":{"finalizers":["things.test.weir.dev"],"resourceVersion":"7"}}`},
			wantStatus: "0 Ready=",
		},
		"Finalizes": {
			reason:     "the finalizer goes when the work is done, and with it the object",
			object:     deleting(thing(), "other", finalizer),
			reconciler: withFinalizer{never(t), marks(corev1.ConditionFalse, nil)},
			wantWrites: []string{`patch {"metadata":{"finalizers":["other"],"resourceVersion":"7"}}`},
			wantEvents: []string{`Normal FinalizerUpdate Updated "thing" finalizers`},
			wantStatus: "0 Ready=",
		},
		"FinalizesWithEvent": {
			reason:     "a normal event lets the object go too",
			object:     deleting(thing(), finalizer),
			reconciler: withFinalizer{never(t), returns(event)},
			wantWrites: []string{`patch {"metadata":{"finalizers":[],"resourceVersion":"7"}}`},
			wantEvents: []string{`Normal FinalizerUpdate Updated "thing" finalizers`, "Normal Done all of 3"},
			wantStatus: "0 Ready=",
		},
		"FinalizeWarns": {
			reason:     "a warning keeps the object, and the status says why",
			object:     deleting(thing(), finalizer),
			reconciler: withFinalizer{never(t), marks(corev1.ConditionFalse, warning)},
			wantWrites: []string{"status"},
			wantEvents: []string{"Warning Odd hm"},
			wantStatus: "0 Ready=False Because",
		},
		"FinalizeFails": {
			reason:     "an error keeps the object, and it is tried again",
			object:     deleting(thing(), finalizer),
			reconciler: withFinalizer{never(t), returns(errBroken)},
			wantErr:    errBroken,
			wantEvents: []string{"Warning InternalError broken"},
			wantStatus: "0 Ready=",
		},
		"Finalized": {
			reason:     "an object whose finalizer of ours is gone waits for others",
			object:     deleting(thing(), "other"),
			reconciler: withFinalizer{never(t), never(t)},
			wantStatus: "0 Ready=",
		},
		"ServerSideApply": {
			reason: "a field manager owns the finalizer alone",
			object: ready(thing()),
			reconciler: withFinalizer{
				marks(corev1.ConditionTrue, nil), never(t),
			},
			mutate: func(s *setup) {
				s.config.Options.UseServerSideApplyForFinalizers = true
				s.config.Options.FinalizerFieldManager = "me"
				s.config.Options.FinalizerName = "mine.example.com"
			},
			wantWrites: []string{`patch {"apiVersion":"test.weir.dev/v1","kind":"Thing","metadata":{"finalizers":["mine.example.com"],"name":"thing","namespace":"ns","uid":"u"}}`},
			wantEvents: []string{`Normal FinalizerUpdate Updated "thing" finalizers`},
			wantStatus: "1 Ready=True",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newSetup(tc.object, tc.reconciler)
			if tc.mutate != nil {
				tc.mutate(s)
			}
			r := New(s.config)
			if !tc.notLeader {
				lead(t, r)
			}
			before := tc.object.DeepCopy()

			err := r.Reconcile(t.Context(), key)

			if !errors.Is(err, tc.wantErr) {
				t.Errorf("%s: Reconcile() = %v, want %v", tc.reason, err, tc.wantErr)
			}
			if d := cmp.Diff(tc.wantWrites, s.client.writes, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("%s: writes (-want +got):\n%s", tc.reason, d)
			}
			if d := cmp.Diff(tc.wantEvents, s.events(), cmpopts.EquateEmpty()); d != "" {
				t.Errorf("%s: events (-want +got):\n%s", tc.reason, d)
			}
			if got := describe(s.client.stored); got != tc.wantStatus {
				t.Errorf("%s: stored status is %q, want %q", tc.reason, got, tc.wantStatus)
			}
			if d := cmp.Diff(before, tc.object); d != "" {
				t.Errorf("the cached object was changed (-before +after):\n%s", d)
			}
		})
	}
}

type deletionObserver struct {
	reconcileFunc
	seen *types.NamespacedName
}

func (d deletionObserver) ObserveDeletion(_ context.Context, k types.NamespacedName) error {
	*d.seen = k
	return nil
}

func TestObjectGone(t *testing.T) {
	var seen types.NamespacedName
	s := newSetup(nil, deletionObserver{never(t), &seen})
	r := New(s.config)
	lead(t, r)
	if err := r.Reconcile(t.Context(), key); err != nil {
		t.Errorf("Reconcile: %v", err)
	}
	if want := (types.NamespacedName{Namespace: "ns", Name: "thing"}); seen != want {
		t.Errorf("ObserveDeletion got %v, want %v", seen, want)
	}
}

func TestFlappingConditionKeepsItsTime(t *testing.T) {
	long := apis.VolatileTime{Inner: metav1.NewTime(time.Unix(1000, 0))}
	object := ready(thing())
	object.Status.Conditions[0].LastTransitionTime = long
	object.Generation = 2 // so that there is something to write
	s := newSetup(object, reconcileFunc(func(ctx context.Context, o *duckv1.KResource) reconciler.Event {
		_ = marks(corev1.ConditionFalse, nil)(ctx, o)
		return marks(corev1.ConditionTrue, nil)(ctx, o)
	}))
	r := New(s.config)
	lead(t, r)
	if err := r.Reconcile(t.Context(), key); err != nil {
		t.Fatalf("Reconcile: %v", err)
	}
	if got := s.client.stored.Status.Conditions[0].LastTransitionTime; !got.Inner.Equal(&long.Inner) {
		t.Errorf("transition time is %v, want %v: what flaps inside one reconcile leaves no trace", got, long)
	}
}

func TestApplyNeedsFieldManager(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("New accepted server-side apply without a field manager")
		}
	}()
	s := newSetup(thing(), returns(nil))
	s.config.Options.UseServerSideApplyForFinalizers = true
	New(s.config)
}
