// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package surface_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/pkg/apis"
	"weir.dev/pkg/reconciler"
)

var errCause = errors.New("cause")

func TestEvents(t *testing.T) {
	event := reconciler.NewEvent(corev1.EventTypeWarning, "Reason", "%s: %w", "text", errCause)
	var as *reconciler.ReconcilerEvent
	if !reconciler.EventAs(event, &as) {
		t.Fatalf("%T is no ReconcilerEvent", event)
	}
	if as.EventType != corev1.EventTypeWarning || as.Reason != "Reason" || as.Format != "%s: %w" || len(as.Args) != 2 {
		t.Errorf("got %+v", as)
	}
	if event.Error() != "text: cause" || !errors.Is(event, errCause) {
		t.Errorf("the message is %q, and wraps what the format does", event)
	}
	tests := map[string]struct {
		event, target reconciler.Event
		want          bool
	}{
		"Same":        {event, reconciler.NewEvent(corev1.EventTypeWarning, "Reason", "another text"), true},
		"Wrapped":     {fmt.Errorf("wrapped: %w", event), reconciler.NewEvent(corev1.EventTypeWarning, "Reason", ""), true},
		"OtherReason": {event, reconciler.NewEvent(corev1.EventTypeWarning, "Other", ""), false},
		"OtherType":   {event, reconciler.NewEvent(corev1.EventTypeNormal, "Reason", ""), false},
		"Cause":       {event, errCause, true},
		"NoEvent":     {errCause, event, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := reconciler.EventIs(tc.event, tc.target); got != tc.want {
				t.Errorf("EventIs: %v", got)
			}
		})
	}
}

func TestConstants(t *testing.T) {
	if reconciler.DefaultTimeout != 30*time.Second {
		t.Errorf("the timeout is %v", reconciler.DefaultTimeout)
	}
	for got, want := range map[string]string{
		reconciler.DoReconcileKind:       "ReconcileKind",
		reconciler.DoFinalizeKind:        "FinalizeKind",
		reconciler.DoObserveKind:         "ObserveKind",
		reconciler.DoObserveFinalizeKind: "ObserveFinalizeKind",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// leader embeds what knows its buckets.
type leader struct {
	reconciler.LeaderAwareFuncs
}

// evenBucket has every other key.
type evenBucket struct{}

func (evenBucket) Name() string                      { return "even" }
func (evenBucket) Has(key types.NamespacedName) bool { return len(key.Name)%2 == 0 }

func TestLeaderAware(t *testing.T) {
	var promoted, demoted string
	l := &leader{reconciler.LeaderAwareFuncs{
		PromoteFunc: func(b reconciler.Bucket, enq func(reconciler.Bucket, types.NamespacedName)) error {
			promoted = b.Name()
			enq(b, key("ns", "even"))
			return nil
		},
		DemoteFunc: func(b reconciler.Bucket) { demoted = b.Name() },
	}}
	var aware reconciler.LeaderAware = l
	var enqueued []types.NamespacedName
	if l.IsLeaderFor(key("ns", "even")) {
		t.Error("it leads nothing to begin with")
	}
	if err := aware.Promote(evenBucket{}, func(_ reconciler.Bucket, k types.NamespacedName) { enqueued = append(enqueued, k) }); err != nil {
		t.Fatal(err)
	}
	if !l.IsLeaderFor(key("ns", "even")) || l.IsLeaderFor(key("ns", "odd")) {
		t.Error("it leads the keys of its bucket")
	}
	aware.Demote(evenBucket{})
	if l.IsLeaderFor(key("ns", "even")) || promoted != "even" || demoted != "even" || len(enqueued) != 1 {
		t.Errorf("promoted %q, demoted %q, enqueued %v", promoted, demoted, enqueued)
	}
	if all := reconciler.UniversalBucket(); !all.Has(key("ns", "odd")) || !all.Has(key("", "even")) {
		t.Error("the universal bucket has every key")
	}
}

type storeKey string

// store puts its name into the context.
type store string

func (s store) ToContext(ctx context.Context) context.Context {
	return context.WithValue(ctx, storeKey(s), true)
}

// watcher of deletions.
type watcher struct{ deleted types.NamespacedName }

func (w *watcher) ObserveDeletion(_ context.Context, key types.NamespacedName) error {
	w.deleted = key
	return nil
}

var _ reconciler.OnDeletionInterface = (*watcher)(nil) // its call: codegen_test.go

func TestConfigStores(t *testing.T) {
	var stores reconciler.ConfigStore = reconciler.ConfigStores{store("one"), store("two")}
	ctx := stores.ToContext(t.Context())
	if ctx.Value(storeKey("one")) == nil || ctx.Value(storeKey("two")) == nil {
		t.Error("each store adds its own")
	}
}

func TestReconcilerFilters(t *testing.T) {
	p := pod("name")
	p.Labels, p.Annotations = map[string]string{"label": "l"}, map[string]string{"annotation": "a"}
	yes, no := reconciler.NameFilterFunc("name"), reconciler.NameFilterFunc("other")
	tests := map[string]struct {
		filter func(interface{}) bool
		want   bool
	}{
		"Annotation":        {reconciler.AnnotationFilterFunc("annotation", "a", false), true},
		"AnnotationDiffers": {reconciler.AnnotationFilterFunc("annotation", "b", true), false},
		"AnnotationUnset":   {reconciler.AnnotationFilterFunc("other", "a", false), false},
		"AnnotationNoMore":  {reconciler.AnnotationFilterFunc("other", "a", true), true},
		"Label":             {reconciler.LabelFilterFunc("label", "l", false), true},
		"LabelUnset":        {reconciler.LabelFilterFunc("other", "l", false), false},
		"LabelNoMore":       {reconciler.LabelFilterFunc("other", "l", true), true},
		"LabelExists":       {reconciler.LabelExistsFilterFunc("label"), true},
		"LabelMissing":      {reconciler.LabelExistsFilterFunc("other"), false},
		"Namespace":         {reconciler.NamespaceFilterFunc("ns"), true},
		"Not":               {reconciler.Not(yes), false},
		"Or":                {reconciler.Or(no, yes), true},
		"And":               {reconciler.ChainFilterFuncs(yes, no), false},
		"AndBoth":           {reconciler.ChainFilterFuncs(yes, yes), true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for _, obj := range []interface{}{p, cache.DeletedFinalStateUnknown{Obj: p}} {
				if got := tc.filter(obj); got != tc.want {
					t.Errorf("%T: %v", obj, got)
				}
			}
		})
	}
}

func TestRetries(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, "name", errCause)
	tests := map[string]struct {
		retry func(func(int) error) error
		err   error
		again bool
	}{
		"Conflict": {reconciler.RetryUpdateConflicts, conflict, true},
		"Other":    {reconciler.RetryUpdateConflicts, errCause, false},
		"Matched": {func(f func(int) error) error {
			return reconciler.RetryErrors(f, apierrors.IsNotFound, func(err error) bool { return err == errCause }) //nolint:errorlint // as it is
		}, errCause, true},
		"Unmatched": {func(f func(int) error) error { return reconciler.RetryErrors(f, apierrors.IsNotFound) }, errCause, false},
		"Test":      {reconciler.RetryTestErrors, apierrors.NewInternalError(errCause), true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			attempts := 0
			err := tc.retry(func(attempt int) error {
				if attempt != attempts {
					t.Errorf("attempt %d is called %d", attempts, attempt)
				}
				if attempts++; attempts == 1 {
					return tc.err
				}
				return nil
			})
			if got := attempts == 2; got != tc.again || (err == nil) != tc.again {
				t.Errorf("%d attempts, %v", attempts, err)
			}
		})
	}
}

// TestProcess: the status of an object before and after its reconcile.
func TestProcess(t *testing.T) {
	old := service("name")
	old.Generation, old.Status.ObservedGeneration = 2, 1
	old.GetConditionSet().Manage(old.GetStatus()).MarkTrue(apis.ConditionReady)
	obj := old.DeepCopy()
	reconciler.PreProcessReconcile(t.Context(), obj)
	ready := obj.Status.GetCondition(apis.ConditionReady)
	if !ready.IsUnknown() || ready.Reason != "NewObservedGenFailure" {
		t.Errorf("a new generation is not known to be ready: %+v", ready)
	}
	if obj.Status.GetCondition(servingv1.ServiceConditionRoutesReady) == nil {
		t.Error("conditions are there from the start")
	}
	obj.GetConditionSet().Manage(obj.GetStatus()).MarkTrue(apis.ConditionReady)
	reconciler.PostProcessReconcile(t.Context(), obj, old)
	if obj.Status.ObservedGeneration != 2 {
		t.Errorf("the observed generation is %d", obj.Status.ObservedGeneration)
	}
}
