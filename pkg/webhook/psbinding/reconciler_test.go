// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package psbinding_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	corev1listers "k8s.io/client-go/listers/core/v1"
	clientgotesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"weir.dev/pkg/apis/duck"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/webhook/psbinding"
)

func TestBaseReconciler(t *testing.T) {
	red := map[string]string{"colour": "red"}
	bound := []corev1.EnvVar{{Name: "a", Value: "by a"}}
	versioned := deployment("app", nil)
	versioned.ResourceVersion = "7"
	done := func(t *tag) {
		finalized(t)
		t.Status = tagStatus{Ready: "True", ObservedGeneration: 3}
	}
	tests := map[string]struct {
		reason   string
		binding  *tag
		subjects []runtime.Object
		writes   []string
		env      map[string][]corev1.EnvVar
		wantErr  bool
	}{
		"New": {
			"it cannot go before its subject is freed", newTag("a"), []runtime.Object{deployment("app", nil)},
			[]string{"patch tags a", "patch deployments app", "update tags/status a: True of 3"},
			map[string][]corev1.EnvVar{"app": bound}, false,
		},
		"Done":      {"nothing changes", newTag("a", done), []runtime.Object{deployment("app", nil, bound...)}, nil, map[string][]corev1.EnvVar{"app": bound}, false},
		"Versioned": {"the change is of what was seen", newTag("a", done), []runtime.Object{versioned}, []string{"patch deployments app"}, map[string][]corev1.EnvVar{"app": bound}, false},
		"Selected": {
			"those that are, but not those that forbid it", newTag("a", done, selecting(red)),
			[]runtime.Object{deployment("x", red), deployment("y", nil), deployment("z", map[string]string{"colour": "red", duck.BindingExcludeLabel: "true"})},
			[]string{"patch deployments x"}, map[string][]corev1.EnvVar{"x": bound, "y": nil, "z": nil}, false,
		},
		"Missing": {"its creation is heard of", newTag("a", done), nil, []string{"update tags/status a: SubjectMissing of 3"}, nil, false},
		"Broken": {
			"it is tried again, and the status says why", newTag("broken", done), []runtime.Object{deployment("app", nil)},
			[]string{"update tags/status broken: BindingFailed of 3"}, map[string][]corev1.EnvVar{"app": nil}, true,
		},
		"BadReference": {
			"it names nothing", newTag("a", done, func(t *tag) { t.Subject.Name = "" }), nil,
			[]string{"update tags/status a: TrackingFailed of 3"}, nil, true,
		},
		"Deleted": {
			"its subject is freed first", newTag("a", finalized, deleted), []runtime.Object{deployment("app", nil, bound...)},
			[]string{"patch deployments app", "patch tags a"}, map[string][]corev1.EnvVar{"app": nil}, false,
		},
		"DeletedBroken":  {"what cannot be prepared can go", newTag("broken", finalized, deleted), []runtime.Object{deployment("app", nil)}, []string{"patch tags broken"}, nil, false},
		"DeletedMissing": {"there is nothing to free", newTag("a", finalized, deleted), nil, []string{"patch tags a"}, nil, false},
		"DeletedFreed":   {"others hold it", newTag("a", deleted), []runtime.Object{deployment("app", nil, bound...)}, nil, map[string][]corev1.EnvVar{"app": bound}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, tc.binding, tc.subjects...)
			w.lead(t)
			before := tc.binding.DeepCopyObject()
			if err := w.Reconcile(w.ctx, ns+"/"+tc.binding.Name); (err != nil) != tc.wantErr {
				t.Errorf("%s: got %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.writes, w.writes()); diff != "" {
				t.Errorf("%s: writes (-want +got):\n%s", tc.reason, diff)
			}
			for name, want := range tc.env {
				if diff := cmp.Diff(want, w.env(t, name)); diff != "" {
					t.Errorf("%s: %s (-want +got):\n%s", tc.reason, name, diff)
				}
			}
			if diff := cmp.Diff(before, runtime.Object(tc.binding)); diff != "" {
				t.Errorf("an object of the cache was changed:\n%s", diff)
			}
			if tc.wantErr != (len(w.recorder.Events) == 1) {
				t.Errorf("want an event for each failure, got %d", len(w.recorder.Events))
			}
		})
	}
}

func TestFinalizersOfOthersStay(t *testing.T) {
	w := newWorld(t, newTag("a", finalized, deleted))
	w.lead(t)
	if err := w.Reconcile(w.ctx, ns+"/a"); err != nil {
		t.Fatal(err)
	}
	got, err := w.client.Resource(tags).Namespace(ns).Get(w.ctx, "a", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"other"}, got.GetFinalizers()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFollowerAndGone(t *testing.T) {
	w := newWorld(t, newTag("a"))
	if err := w.Reconcile(w.ctx, ns+"/a"); !controller.IsSkipKey(err) {
		t.Errorf("the leader alone writes: %v", err)
	}
	w.lead(t)
	if err := w.Reconcile(w.ctx, ns+"/gone"); err != nil {
		t.Errorf("what is gone needs nothing: %v", err)
	}
	if writes := w.writes(); writes != nil {
		t.Errorf("wrote %v", writes)
	}
}

func TestNamespaceIsLabelled(t *testing.T) {
	tests := map[string]struct {
		reason string
		labels map[string]string
		want   []string
	}{
		"None":     {"it is to ask for bindings", nil, []string{"patch namespaces there"}},
		"Included": {"it does", map[string]string{duck.BindingIncludeLabel: "true"}, nil},
		"Excluded": {"it forbids them", map[string]string{duck.BindingExcludeLabel: "true"}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			namespace := &corev1.Namespace{
				TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
				ObjectMeta: metav1.ObjectMeta{Name: ns, Labels: tc.labels},
			}
			done := func(t *tag) { t.Status = tagStatus{Ready: "True", ObservedGeneration: 3} }
			w := newWorld(t, newTag("a", finalized, done), namespace, deployment("app", nil, corev1.EnvVar{Name: "a", Value: "by a"}))
			indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
			if err := indexer.Add(namespace); err != nil {
				t.Fatal(err)
			}
			w.NamespaceLister = corev1listers.NewNamespaceLister(indexer)
			w.lead(t)
			if err := w.Reconcile(w.ctx, ns+"/a"); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, w.writes()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestStaleSubject(t *testing.T) {
	w := newWorld(t, newTag("a", finalized), deployment("app", nil))
	w.client.PrependReactor("patch", "deployments", func(clientgotesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewConflict(schema.GroupResource{Resource: "deployments"}, "app", errors.New("it has changed"))
	})
	w.lead(t)
	if err := w.Reconcile(w.ctx, ns+"/a"); !controller.IsStaleRead(err) {
		t.Errorf("the queue is to try again quietly: %v", err)
	}
	if diff := cmp.Diff([]string{"patch deployments app"}, w.writes()); diff != "" || len(w.recorder.Events) != 0 {
		t.Errorf("it is no failure to tell of (-want +got):\n%s", diff)
	}
}

// besides fails as told.
type besides struct{ err error }

func (s besides) Reconcile(context.Context, psbinding.Bindable) error         { return s.err }
func (s besides) ReconcileDeletion(context.Context, psbinding.Bindable) error { return s.err }

func TestSubResourcesComeFirst(t *testing.T) {
	failure := errors.New("not yet")
	for name, change := range map[string]func(*tag){"Binding": func(*tag) {}, "Freeing": deleted} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, newTag("a", finalized, change), deployment("app", nil))
			w.SubResourcesReconciler = besides{failure}
			w.lead(t)
			if err := w.Reconcile(w.ctx, ns+"/a"); !errors.Is(err, failure) {
				t.Errorf("got %v", err)
			}
			if env := w.env(t, "app"); env != nil {
				t.Errorf("the subject must wait: %v", env)
			}
		})
	}
}
