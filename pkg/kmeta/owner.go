// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package kmeta

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// OwnerRefable is an object that can own others. It names its own kind,
// because objects that come out of a lister carry no type.
type OwnerRefable interface {
	metav1.ObjectMetaAccessor

	// GetGroupVersionKind returns the kind.
	GetGroupVersionKind() schema.GroupVersionKind
}

// NewControllerRef returns a reference that makes obj the controlling owner.
func NewControllerRef(obj OwnerRefable) *metav1.OwnerReference {
	return metav1.NewControllerRef(obj.GetObjectMeta(), obj.GetGroupVersionKind())
}

// Accessor is an object with its metadata and kind.
type Accessor interface {
	metav1.Object
	runtime.Object

	// GroupVersionKind returns the kind in the type metadata.
	GroupVersionKind() schema.GroupVersionKind
	// SetGroupVersionKind sets the type metadata.
	SetGroupVersionKind(gvk schema.GroupVersionKind)
}

// DeletionHandlingAccessor returns the object behind what an informer's
// handler was given, which may be the tombstone of a deletion that was missed.
func DeletionHandlingAccessor(obj interface{}) (Accessor, error) {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	accessor, ok := obj.(Accessor)
	if !ok {
		return nil, fmt.Errorf("want an API object, got %T", obj)
	}
	return accessor, nil
}

// ObjectReference returns a reference to obj.
func ObjectReference(obj Accessor) corev1.ObjectReference {
	apiVersion, kind := objectKind(obj).ToAPIVersionAndKind()
	return corev1.ObjectReference{
		APIVersion: apiVersion,
		Kind:       kind,
		Namespace:  obj.GetNamespace(),
		Name:       obj.GetName(),
	}
}

// objectKind prefers what the type says about itself to its type metadata.
func objectKind(obj Accessor) schema.GroupVersionKind {
	if or, ok := obj.(OwnerRefable); ok {
		return or.GetGroupVersionKind()
	}
	return obj.GroupVersionKind()
}
