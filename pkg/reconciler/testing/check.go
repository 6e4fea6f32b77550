// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package testing

import (
	"fmt"
	"strings"

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

// outcome is what a run did.
type outcome struct {
	actions ActionRecorderList
	events  []string
	before  []runtime.Object // copies of the row's objects
}

// compare tells how the outcome differs from what the row wants.
func (r *TableRow) compare(o outcome) []string {
	actions, err := o.actions.ActionsByVerb()
	updates, status := bySubResource(actions.Updates)
	var problems []string
	if err != nil {
		problems = append(problems, fmt.Sprintf("the reconciler made requests that no table can want: %v", err))
	}
	for _, c := range []struct {
		what      string
		want, got any
	}{
		{"creates", r.WantCreates, created(actions.Creates)},
		{"updates", updatesOf(r.WantUpdates), updatesOf(updates)},
		{"status updates", updatesOf(r.WantStatusUpdates), updatesOf(status)},
		{"deletes", deletesOf(r.WantDeletes), deletesOf(actions.Deletes)},
		{"deletes of collections", collectionsOf(r.WantDeleteCollections), collectionsOf(actions.DeleteCollections)},
		{"patches", patchesOf(r.WantPatches), anyResource(patchesOf(r.WantPatches), patchesOf(actions.Patches))},
		{"events", r.WantEvents, o.events},
		{"cached objects, which must not be changed", o.before, r.Objects},
	} {
		if d := cmp.Diff(c.want, c.got, r.comparing()...); d != "" {
			problems = append(problems, fmt.Sprintf("unexpected %s (-want +got):\n%s", c.what, d))
		}
	}
	return append(problems, r.strays(actions)...)
}

// write is an action in a form that shows in a diff what matters of it.
type write struct {
	Resource, SubResource string
	Namespace, Name       string
	Patch                 string
	Labels, Fields        string
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

// anyResource leaves out of got the resources that want does not name.
func anyResource(want, got []write) []write {
	for i := range min(len(want), len(got)) {
		if want[i].Resource == "" {
			got[i].Resource = ""
		}
	}
	return got
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

// strays are the writes in other namespaces than the key's.
func (r *TableRow) strays(actions Actions) []string {
	namespace := r.namespace()
	if namespace == "" {
		return nil
	}
	var problems []string
	for _, a := range actions.writes {
		if got := a.GetNamespace(); got != namespace {
			target := strings.Trim(a.GetResource().Resource+"/"+a.GetSubresource(), "/")
			problems = append(problems, fmt.Sprintf("unexpected %s of %s in namespace %q, want %q", a.GetVerb(), target, got, namespace))
		}
	}
	return problems
}
