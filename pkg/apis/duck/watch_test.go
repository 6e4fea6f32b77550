// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package duck

import (
	"testing"

	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	duckv1 "weir.dev/pkg/apis/duck/v1"
)

// TestTypedWatch: events come typed, and a watch that is stopped leaves nothing
// behind although nobody takes the event at hand.
func TestTypedWatch(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	untyped := watch.NewFake()
	w := newTypedWatch(untyped, &duckv1.KResource{})
	thing := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "test.weir.dev/v1", "kind": "Thing", "metadata": map[string]any{"name": "a"},
	}}
	untyped.Add(thing)
	e := <-w.ResultChan()
	if o, ok := e.Object.(*duckv1.KResource); !ok || o.Name != "a" || e.Type != watch.Added {
		t.Errorf("got %s of %v", e.Type, e.Object)
	}
	untyped.Modify(thing) // returns once the event is at hand
	w.Stop()
	w.Stop()
}
