// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package testing

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgotesting "k8s.io/client-go/testing"

	"weir.dev/pkg/apis"
	"weir.dev/pkg/reconciler"
)

func ignore(reconciler.Bucket, types.NamespacedName) {}

// comparing is how objects are compared: times of conditions are equal,
// quantities are their values, and nil is as good as empty.
func (r *TableRow) comparing() []cmp.Option {
	return append([]cmp.Option{
		cmpopts.EquateEmpty(),
		cmp.Comparer(func(_, _ apis.VolatileTime) bool { return true }),
		cmp.Comparer(func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 }),
	}, r.CmpOpts...)
}

func (r *TableRow) diff(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got, r.comparing()...); d != "" {
		t.Errorf("unexpected %s (-want +got):\n%s", what, d)
	}
}

// write is an action in a form that shows in a diff what matters of it.
type write struct {
	Resource, SubResource string
	Namespace, Name       string
	Patch                 string
	Labels, Fields        string
}

func (r *TableRow) checkWrites(t *testing.T, recorders ActionRecorderList) {
	t.Helper()
	actions, err := recorders.ActionsByVerb()
	if err != nil {
		t.Errorf("the reconciler made requests that no table can want: %v", err)
	}
	r.diff(t, "creates", r.WantCreates, created(actions.Creates))
	updates, status := bySubResource(actions.Updates)
	r.diff(t, "updates", updatesOf(r.WantUpdates), updatesOf(updates))
	r.diff(t, "status updates", updatesOf(r.WantStatusUpdates), updatesOf(status))
	r.diff(t, "deletes", deletesOf(r.WantDeletes), deletesOf(actions.Deletes))
	r.diff(t, "deletes of collections", collectionsOf(r.WantDeleteCollections), collectionsOf(actions.DeleteCollections))
	r.diff(t, "patches", patchesOf(r.WantPatches), patchesOf(actions.Patches))
	r.checkNamespaces(t, actions)
}

func created(actions []clientgotesting.CreateAction) []runtime.Object {
	objects := make([]runtime.Object, 0, len(actions))
	for _, a := range actions {
		objects = append(objects, a.GetObject())
	}
	return objects
}

func bySubResource(actions []clientgotesting.UpdateAction) (updates, status []clientgotesting.UpdateActionImpl) {
	for _, a := range actions {
		impl := clientgotesting.UpdateActionImpl{Object: a.GetObject()}
		if a.GetSubresource() == "" {
			updates = append(updates, impl)
		} else {
			status = append(status, impl)
		}
	}
	return updates, status
}

func updatesOf(actions []clientgotesting.UpdateActionImpl) []runtime.Object {
	objects := make([]runtime.Object, 0, len(actions))
	for _, a := range actions {
		objects = append(objects, a.Object)
	}
	return objects
}

func deletesOf[A clientgotesting.DeleteAction](actions []A) []write {
	return writesOf(actions, func(a A) write { return write{Name: a.GetName()} })
}

func collectionsOf[A clientgotesting.DeleteCollectionAction](actions []A) []write {
	return writesOf(actions, func(a A) write {
		restrictions := a.GetListRestrictions()
		w := write{}
		if restrictions.Labels != nil {
			w.Labels = restrictions.Labels.String()
		}
		if restrictions.Fields != nil {
			w.Fields = restrictions.Fields.String()
		}
		return w
	})
}

// patchesOf leaves out the type of a patch, which its text shows.
func patchesOf[A clientgotesting.PatchAction](actions []A) []write {
	return writesOf(actions, func(a A) write {
		return write{Name: a.GetName(), SubResource: a.GetSubresource(), Patch: string(a.GetPatch())}
	})
}

func writesOf[A clientgotesting.Action](actions []A, describe func(A) write) []write {
	writes := make([]write, 0, len(actions))
	for _, a := range actions {
		w := describe(a)
		w.Namespace = a.GetNamespace()
		w.Resource = a.GetResource().Resource
		writes = append(writes, w)
	}
	return writes
}

func (r *TableRow) checkNamespaces(t *testing.T, actions Actions) {
	t.Helper()
	namespace := r.namespace()
	if namespace == "" {
		return
	}
	for _, a := range actions.all() {
		if got := a.GetNamespace(); got != namespace {
			t.Errorf("unexpected %s of %s in namespace %q, want %q", a.GetVerb(),
				strings.Trim(a.GetResource().Resource+"/"+a.GetSubresource(), "/"), got, namespace)
		}
	}
}
