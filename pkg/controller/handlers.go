// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"weir.dev/pkg/kmeta"
)

// Callback is what event handlers are made of.
type Callback func(obj any)

// PassNew makes an update handler that gets the new object.
func PassNew(f func(any)) func(any, any) {
	return func(_, updated any) { f(updated) }
}

// HandleAll makes an event handler that calls h for everything that happens.
func HandleAll(h func(any)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{AddFunc: h, UpdateFunc: PassNew(h), DeleteFunc: h}
}

// EnsureTypeMeta calls f with a copy of the object that carries its kind, which
// objects out of informers lack.
func EnsureTypeMeta(f Callback, gvk schema.GroupVersionKind) Callback {
	return func(untyped any) {
		obj, err := kmeta.DeletionHandlingAccessor(untyped)
		if err != nil {
			return
		}
		typed, ok := obj.DeepCopyObject().(kmeta.Accessor)
		if !ok {
			return
		}
		typed.SetGroupVersionKind(gvk)
		f(typed)
	}
}

// FilterControllerGK wants objects whose controlling owner is of that kind, of
// whatever version.
func FilterControllerGK(gk schema.GroupKind) func(obj any) bool {
	return filterController(func(gvk schema.GroupVersionKind) bool { return gvk.GroupKind() == gk })
}

// FilterControllerGVK wants objects whose controlling owner is of that kind and version.
func FilterControllerGVK(want schema.GroupVersionKind) func(obj any) bool {
	return filterController(func(gvk schema.GroupVersionKind) bool { return gvk == want })
}

// FilterController wants objects whose controlling owner is of r's kind.
func FilterController(r kmeta.OwnerRefable) func(obj any) bool {
	return FilterControllerGK(r.GetGroupVersionKind().GroupKind())
}

func filterController(matches func(schema.GroupVersionKind) bool) func(obj any) bool {
	return func(untyped any) bool {
		obj, err := kmeta.DeletionHandlingAccessor(untyped)
		if err != nil {
			return false
		}
		owner := metav1.GetControllerOf(obj)
		return owner != nil && matches(schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind))
	}
}

// FilterWithName wants objects of that name.
func FilterWithName(name string) func(obj any) bool {
	return func(untyped any) bool {
		obj, err := kmeta.DeletionHandlingAccessor(untyped)
		return err == nil && obj.GetName() == name
	}
}

// FilterWithNameAndNamespace wants the object of that namespace and name.
func FilterWithNameAndNamespace(namespace, name string) func(obj any) bool {
	return func(untyped any) bool {
		obj, err := kmeta.DeletionHandlingAccessor(untyped)
		return err == nil && obj.GetNamespace() == namespace && obj.GetName() == name
	}
}
