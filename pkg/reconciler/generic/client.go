// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package generic

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// client is a dynamic client with Ts.
type client[T Object[T]] struct {
	gvk     schema.GroupVersionKind
	dynamic dynamic.ResourceInterface
}

// Get implements engine.Client.
func (c client[T]) Get(ctx context.Context, name string, opts metav1.GetOptions) (T, error) {
	return typed[T](c.dynamic.Get(ctx, name, opts))
}

// UpdateStatus implements engine.Client.
func (c client[T]) UpdateStatus(ctx context.Context, obj T, opts metav1.UpdateOptions) (T, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return obj, fmt.Errorf("encoding %s %s: %w", c.gvk.Kind, obj.GetName(), err)
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(c.gvk)
	return typed[T](c.dynamic.UpdateStatus(ctx, u, opts))
}

// Patch implements engine.Client.
func (c client[T]) Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (T, error) {
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
