// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package engine runs one key of any kind: everything between the queue and
// ReconcileKind, once for all kinds. Generated reconciler packages are typed
// facades over it and tell it about their kind; nothing else imports it.
package engine

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"weir.dev/pkg/kmeta"
	"weir.dev/pkg/reconciler"
)

// Object is a pointer to an API type.
type Object[T any] interface {
	kmeta.Accessor
	DeepCopy() T
}

// Kind is what the engine must know of a kind.
type Kind[T Object[T]] struct {
	// GVK is the kind.
	GVK schema.GroupVersionKind
	// Plural is the resource's name in URLs.
	Plural string
	// ClassKeys are the annotations that may name the class of an object. The
	// first one that is present decides. None: the kind has no classes.
	ClassKeys []string
	// KRShaped turns on the upkeep of conditions and observedGeneration.
	KRShaped bool

	// Get reads an object from the cache.
	Get func(namespace, name string) (T, error)
	// List reads objects from the cache.
	List func(labels.Selector) ([]T, error)
	// Client writes to the API.
	Client func(namespace string) Client[T]
	// Status returns the status for comparison; nil when the kind has none.
	Status func(T) any
	// CopyStatus sets the status of to to that of from.
	CopyStatus func(to, from T)
}

// Client is what the engine needs of a typed client.
type Client[T any] interface {
	Get(ctx context.Context, name string, opts metav1.GetOptions) (T, error)
	UpdateStatus(ctx context.Context, obj T, opts metav1.UpdateOptions) (T, error)
	Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (T, error)
}

// Interface is what every typed reconciler implements.
type Interface[T any] interface {
	// ReconcileKind makes the world look as o says. It may change o's status,
	// which is then written; other changes to o are lost.
	ReconcileKind(ctx context.Context, o T) reconciler.Event
}

// Finalizer is implemented in addition by a typed reconciler that must act
// before an object is gone. Implementing it puts a finalizer on the objects.
type Finalizer[T any] interface {
	// FinalizeKind cleans up after o. The finalizer is removed when it returns
	// nil or a normal event.
	FinalizeKind(ctx context.Context, o T) reconciler.Event
}

// ReadOnly is implemented in addition by a typed reconciler that wants to see
// objects that another replica leads.
type ReadOnly[T any] interface {
	// ObserveKind looks at o. It must write nothing to the API.
	ObserveKind(ctx context.Context, o T) reconciler.Event
}

// Writer is the client of a kind whose status cannot be written.
type Writer[T any] interface {
	Get(ctx context.Context, name string, opts metav1.GetOptions) (T, error)
	Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (T, error)
}

// WithoutStatus makes a Client of a Writer.
type WithoutStatus[T any] struct{ Writer[T] }

// UpdateStatus implements Client; the engine never calls it.
func (WithoutStatus[T]) UpdateStatus(context.Context, T, metav1.UpdateOptions) (T, error) {
	return *new(T), errors.New("the kind has no status that can be written")
}
