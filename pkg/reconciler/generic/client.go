// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package generic

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"weir.dev/pkg/apis/duck"
)

// typedClient is a dynamic client with Ts.
type typedClient[T Object[T]] struct {
	gvk     schema.GroupVersionKind
	dynamic dynamic.ResourceInterface
}

// Get implements engine.Client.
func (c typedClient[T]) Get(ctx context.Context, name string, opts metav1.GetOptions) (T, error) {
	return typed[T](c.dynamic.Get(ctx, name, opts))
}

// UpdateStatus implements engine.Client. It reads the object first and writes
// only what differs: a T may know less of the status than there is. The server
// applies that to whatever the object is by then, so that nobody who writes the
// object all the time can keep it out.
func (c typedClient[T]) UpdateStatus(ctx context.Context, obj T, opts metav1.UpdateOptions) (T, error) {
	stored, err := c.Get(ctx, obj.GetName(), metav1.GetOptions{})
	if err != nil {
		return obj, err
	}
	if equality.Semantic.DeepEqual(status(stored).Interface(), status(obj).Interface()) {
		return stored, nil
	}
	// It holds for this object, not for another of its name.
	patch, err := duck.CreateMergePatch(
		map[string]any{"status": status(stored).Interface()},
		map[string]any{"status": status(obj).Interface(), "metadata": map[string]any{"uid": obj.GetUID()}})
	if err != nil {
		return obj, fmt.Errorf("encoding the status of %s %s: %w", c.gvk.Kind, obj.GetName(), err)
	}
	return c.Patch(ctx, obj.GetName(), types.MergePatchType, patch, metav1.PatchOptions{
		DryRun: opts.DryRun, FieldManager: opts.FieldManager, FieldValidation: opts.FieldValidation,
	}, "status")
}

// Patch implements engine.Client.
func (c typedClient[T]) Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (T, error) {
	return typed[T](c.dynamic.Patch(ctx, name, pt, data, opts, subresources...))
}

// typed turns an answer of the dynamic client into a T.
func typed[T any](u *unstructured.Unstructured, err error) (T, error) {
	if err != nil {
		return *new(T), err
	}
	out := fresh[T]()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, out); err != nil {
		return out, fmt.Errorf("reading %s %s/%s as %T: %w", u.GetKind(), u.GetNamespace(), u.GetName(), out, err)
	}
	return out, nil
}
