// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

func TestEvent(t *testing.T) {
	cause := errors.New("cause")
	event := NewEvent(corev1.EventTypeWarning, "Reason", "because of %w", cause)
	if got, want := event.Error(), "because of cause"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
	wrapped := fmt.Errorf("outer: %w", event)
	for name, target := range map[string]error{
		"cause":  cause,
		"reason": NewEvent(corev1.EventTypeWarning, "Reason", ""),
		"any":    &ReconcilerEvent{},
	} {
		if !EventIs(wrapped, target) {
			t.Errorf("EventIs(%s) = false", name)
		}
	}
	if EventIs(wrapped, NewEvent(corev1.EventTypeWarning, "Other", "")) {
		t.Error("EventIs matches another reason")
	}
	var as *ReconcilerEvent
	if !EventAs(wrapped, &as) || as.Reason != "Reason" {
		t.Errorf("EventAs gives %v", as)
	}
}

func TestLeaderAwareFuncs(t *testing.T) {
	var promoted, demoted string
	f := &LeaderAwareFuncs{
		PromoteFunc: func(b Bucket, enq func(Bucket, types.NamespacedName)) error { promoted = b.Name(); return nil },
		DemoteFunc:  func(b Bucket) { demoted = b.Name() },
	}
	key := types.NamespacedName{Name: "a"}
	if f.IsLeaderFor(key) {
		t.Error("it leads before it is promoted")
	}
	if err := f.Promote(named("b"), nil); err != nil || promoted != "b" || !f.IsLeaderFor(key) {
		t.Errorf("after Promote: error %v, promoted %q, leads %t", err, promoted, f.IsLeaderFor(key))
	}
	f.Demote(named("other"))
	if !f.IsLeaderFor(key) {
		t.Error("the loss of another bucket ends this one")
	}
	if f.Demote(named("b")); demoted != "b" || f.IsLeaderFor(key) {
		t.Errorf("after Demote: demoted %q, leads %t", demoted, f.IsLeaderFor(key))
	}
}

type named string

func (n named) Name() string                { return string(n) }
func (named) Has(types.NamespacedName) bool { return true }

func TestFilters(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "pod",
		Labels: map[string]string{"l": "1"}, Annotations: map[string]string{"a": "2"},
	}}
	yes := NameFilterFunc("pod")
	tests := map[string]struct {
		filter Filter
		want   bool
	}{
		"Annotation":        {AnnotationFilterFunc("a", "2", false), true},
		"OtherAnnotation":   {AnnotationFilterFunc("a", "3", true), false},
		"UnsetAnnotation":   {AnnotationFilterFunc("b", "2", false), false},
		"UnsetIsAllowed":    {AnnotationFilterFunc("b", "2", true), true},
		"Label":             {LabelFilterFunc("l", "1", false), true},
		"UnsetLabelAllowed": {LabelFilterFunc("m", "1", true), true},
		"LabelExists":       {LabelExistsFilterFunc("l"), true},
		"NoLabel":           {LabelExistsFilterFunc("m"), false},
		"Namespace":         {NamespaceFilterFunc("ns"), true},
		"OtherNamespace":    {NamespaceFilterFunc("pod"), false},
		"Not":               {Not(yes), false},
		"Or":                {Or(Not(yes), yes), true},
		"OrNone":            {Or(), false},
		"And":               {ChainFilterFuncs(yes, Not(yes)), false},
		"AndNone":           {ChainFilterFuncs(), true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.filter(pod); got != tc.want {
				t.Errorf("filter(pod) = %t", got)
			}
			if got := tc.filter(cache.DeletedFinalStateUnknown{Obj: pod}); got != tc.want {
				t.Errorf("filter(tombstone) = %t", got)
			}
		})
	}
	if yes("no object") {
		t.Error("a filter wants what is no object")
	}
}

func TestRetryUpdateConflicts(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{}, "x", nil)
	broken := errors.New("broken")
	tests := map[string]struct {
		reason   string
		results  []error
		want     error
		attempts int
	}{
		"AtOnce":  {"success is not repeated", []error{nil}, nil, 1},
		"Later":   {"conflicts are tried again", []error{conflict, conflict, nil}, nil, 3},
		"Other":   {"other errors are not", []error{conflict, broken}, broken, 2},
		"Forever": {"patience ends", []error{conflict, conflict, conflict, conflict, conflict, conflict, nil}, conflict, 6},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			attempts := 0
			err := RetryUpdateConflicts(func(attempt int) error {
				if attempt != attempts {
					t.Errorf("attempt is %d, want %d", attempt, attempts)
				}
				attempts++
				return tc.results[attempt]
			})
			if !errors.Is(err, tc.want) || attempts != tc.attempts {
				t.Errorf("%s: error %v after %d attempts, want %v after %d", tc.reason, err, attempts, tc.want, tc.attempts)
			}
		})
	}
}

type ctxKey struct{ store string }

type store string

func (s store) ToContext(ctx context.Context) context.Context {
	return context.WithValue(ctx, ctxKey{string(s)}, true)
}

func TestConfigStores(t *testing.T) {
	ctx := ConfigStores{store("a"), store("b")}.ToContext(t.Context())
	if ctx.Value(ctxKey{"a"}) == nil || ctx.Value(ctxKey{"b"}) == nil {
		t.Error("a store is missing from the context")
	}
}
