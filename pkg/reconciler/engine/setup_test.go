// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"

	"weir.dev/pkg/apis"
	duckv1 "weir.dev/pkg/apis/duck/v1"
	"weir.dev/pkg/reconciler"
)

var testResource = schema.GroupResource{Group: "test.weir.dev", Resource: "things"}

// setup is a reconciler's surroundings: one cached object, and the same stored.
type setup struct {
	config   Config[*duckv1.KResource]
	client   *fakeClient
	recorder *record.FakeRecorder
}

func newSetup(object *duckv1.KResource, r Interface[*duckv1.KResource]) *setup {
	s := &setup{client: &fakeClient{stored: object.DeepCopy()}, recorder: record.NewFakeRecorder(100)}
	s.config = Config[*duckv1.KResource]{
		Reconciler: r,
		Recorder:   s.recorder,
		ClassValue: "ours",
		Kind: Kind[*duckv1.KResource]{
			GVK:      schema.GroupVersionKind{Group: "test.weir.dev", Version: "v1", Kind: "Thing"},
			Plural:   "things",
			KRShaped: true,
			Get: func(_, name string) (*duckv1.KResource, error) {
				if object == nil {
					return nil, apierrors.NewNotFound(testResource, name)
				}
				return object, nil
			},
			List: func(labels.Selector) ([]*duckv1.KResource, error) {
				return slices.DeleteFunc([]*duckv1.KResource{object}, func(o *duckv1.KResource) bool { return o == nil }), nil
			},
			Client:     func(string) Client[*duckv1.KResource] { return s.client },
			Status:     func(o *duckv1.KResource) any { return &o.Status },
			CopyStatus: func(to, from *duckv1.KResource) { to.Status = from.Status },
		},
	}
	return s
}

func (s *setup) events() []string {
	var events []string
	for len(s.recorder.Events) > 0 {
		events = append(events, <-s.recorder.Events)
	}
	return events
}

func classes(s *setup) { s.config.Kind.ClassKeys = []string{"class", "old-class"} }

func lead(t *testing.T, r reconciler.LeaderAware) {
	t.Helper()
	if err := r.Promote(reconciler.UniversalBucket(), func(reconciler.Bucket, types.NamespacedName) {}); err != nil {
		t.Fatalf("Promote: %v", err)
	}
}

// fakeClient stores one object and writes down what it is asked to write.
type fakeClient struct {
	stored    *duckv1.KResource
	writes    []string
	conflicts int   // how many status updates meet a conflict
	refused   int   // how many patches meet one
	err       error // what every write returns
}

func (c *fakeClient) Get(context.Context, string, metav1.GetOptions) (*duckv1.KResource, error) {
	return c.stored.DeepCopy(), nil
}

func (c *fakeClient) UpdateStatus(_ context.Context, o *duckv1.KResource, _ metav1.UpdateOptions) (*duckv1.KResource, error) {
	c.writes = append(c.writes, "status")
	if c.conflicts > 0 {
		c.conflicts--
		return nil, errConflict
	}
	if c.err == nil {
		c.stored.Status = *o.Status.DeepCopy()
	}
	return c.stored.DeepCopy(), c.err
}

func (c *fakeClient) Patch(_ context.Context, _ string, _ types.PatchType, data []byte, _ metav1.PatchOptions, _ ...string) (*duckv1.KResource, error) {
	c.writes = append(c.writes, "patch "+string(data))
	if c.refused > 0 {
		c.refused--
		return nil, errConflict
	}
	if c.err == nil {
		if err := json.Unmarshal(data, c.stored); err != nil {
			return nil, err
		}
	}
	return c.stored.DeepCopy(), c.err
}

func thing() *duckv1.KResource {
	return &duckv1.KResource{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "thing", UID: "u", Generation: 1, ResourceVersion: "7",
	}}
}

func labelled(o *duckv1.KResource, labels map[string]string) *duckv1.KResource {
	o.Labels = labels
	return o
}

// relabels edits metadata and ends with err.
func relabels(err error) reconcileFunc {
	return func(_ context.Context, o *duckv1.KResource) reconciler.Event {
		o.Annotations = map[string]string{"note": "x"}
		o.Labels = map[string]string{"stays": "1", "changes": "2", "new": "3"}
		return err
	}
}

func ready(o *duckv1.KResource) *duckv1.KResource {
	o.Status.ObservedGeneration = o.Generation
	o.Status.Conditions = duckv1.Conditions{{Type: apis.ConditionReady, Status: corev1.ConditionTrue}}
	return o
}

func generation(o *duckv1.KResource, n int64) *duckv1.KResource {
	o.Generation = n
	return o
}

func class(o *duckv1.KResource, class string) *duckv1.KResource {
	o.Annotations = map[string]string{"class": class, "old-class": "nobody's"}
	return o
}

func deleting(o *duckv1.KResource, finalizers ...string) *duckv1.KResource {
	now := metav1.Now()
	o.DeletionTimestamp, o.Finalizers = &now, finalizers
	return o
}

// describe is the status in short.
func describe(o *duckv1.KResource) string {
	s := fmt.Sprintf("%d Ready=", o.Status.ObservedGeneration)
	if c := o.Status.GetCondition(apis.ConditionReady); c != nil {
		s += string(c.Status)
		if c.Reason != "" {
			s += " " + c.Reason
		}
	}
	return s
}
