// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package testing tests reconcilers by tables: what is there, a key, and every
// write and event that a run of the key shall make, no more and no less.
package testing

import (
	"context"
	"path"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	clientgotesting "k8s.io/client-go/testing"

	"weir.dev/pkg/controller"
	logtesting "weir.dev/pkg/logging/testing"
	"weir.dev/pkg/reconciler"
)

// TableRow is one run of one key.
type TableRow struct {
	// Name of the case.
	Name string
	// Ctx is the context of the run; nil means a fresh one with a test logger.
	Ctx context.Context
	// Objects are there before the run, in the caches and in the API.
	Objects []runtime.Object
	// Key to reconcile.
	Key string

	// WantErr says that the run returns an error.
	WantErr bool
	// WantCreates are the objects that are created, in order.
	WantCreates []runtime.Object
	// WantUpdates are the updates of objects, in order.
	WantUpdates []clientgotesting.UpdateActionImpl
	// WantStatusUpdates are the updates of status, in order.
	WantStatusUpdates []clientgotesting.UpdateActionImpl
	// WantDeletes are the deletions, in order.
	WantDeletes []clientgotesting.DeleteActionImpl
	// WantDeleteCollections are the deletions of collections, in order.
	WantDeleteCollections []clientgotesting.DeleteCollectionActionImpl
	// WantPatches are the patches, in order. One without a resource is of any.
	WantPatches []clientgotesting.PatchActionImpl
	// WantEvents are the events, as Eventf makes them, in order.
	WantEvents []string

	// WithReactors answer API requests before the fake clients do.
	WithReactors []clientgotesting.ReactionFunc
	// SkipNamespaceValidation allows writes in other namespaces than Key's.
	SkipNamespaceValidation bool
	// PostConditions are checked after the run.
	PostConditions []func(*testing.T, *TableRow)
	// Reconciler is what the factory made; it is there for PostConditions.
	Reconciler controller.Reconciler
	// OtherTestData is for the factory.
	OtherTestData map[string]any
	// CmpOpts are added to how objects are compared.
	CmpOpts []cmp.Option
}

// Factory makes the reconciler of a row, and says where its writes and events
// are recorded. Each row has its own.
type Factory func(*testing.T, *TableRow) (controller.Reconciler, ActionRecorderList, EventList)

// TableTest is a table of runs.
type TableTest []TableRow

// Test runs the rows as sub-tests.
func (tt TableTest) Test(t *testing.T, factory Factory) {
	t.Helper()
	for i := range tt {
		row := &tt[i]
		t.Run(row.Name, func(t *testing.T) {
			t.Helper()
			row.Test(t, factory)
		})
	}
}

// Test runs the row.
func (r *TableRow) Test(t *testing.T, factory Factory) {
	t.Helper()
	before := copies(r.Objects)
	rec, actions, events := factory(t, r)
	r.Reconciler = rec
	r.lead(t)

	if err := rec.Reconcile(r.context(t), r.Key); (err != nil) != r.WantErr {
		t.Errorf("Reconcile(%q) = %v, want an error: %t", r.Key, err, r.WantErr)
	}
	for _, problem := range r.compare(outcome{actions: actions, events: events.Events(), before: before}) {
		t.Error(problem)
	}
	for _, check := range r.PostConditions {
		check(t, r)
	}
}

func (r *TableRow) context(t *testing.T) context.Context {
	if r.Ctx != nil {
		return r.Ctx
	}
	return logtesting.TestContextWithLogger(t)
}

// lead makes the reconciler the leader of everything.
func (r *TableRow) lead(t *testing.T) {
	t.Helper()
	la, ok := r.Reconciler.(reconciler.LeaderAware)
	if !ok {
		return
	}
	if err := la.Promote(reconciler.UniversalBucket(), ignore); err != nil {
		t.Errorf("Promote: %v", err)
	}
}

// namespace is where writes are allowed; empty means everywhere.
func (r *TableRow) namespace() string {
	if r.SkipNamespaceValidation {
		return ""
	}
	namespace, _ := path.Split(r.Key)
	return path.Clean("/" + namespace)[1:]
}

func copies(objects []runtime.Object) []runtime.Object {
	out := make([]runtime.Object, 0, len(objects))
	for _, obj := range objects {
		out = append(out, obj.DeepCopyObject())
	}
	return out
}
