// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package psbinding

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

func (r *BaseReconciler) finalizer() string { return r.GVR.GroupResource().String() }

func (r *BaseReconciler) hasFinalizer(b Bindable) bool {
	return slices.Contains(b.GetFinalizers(), r.finalizer())
}

func (r *BaseReconciler) bindings(b Bindable) dynamic.ResourceInterface {
	return r.DynamicClient.Resource(r.GVR).Namespace(b.GetNamespace())
}

// addFinalizer makes sure that the binding cannot go before its subjects are
// freed.
func (r *BaseReconciler) addFinalizer(ctx context.Context, b Bindable) error {
	if r.hasFinalizer(b) {
		return nil
	}
	return r.patchFinalizers(ctx, b, append(slices.Clone(b.GetFinalizers()), r.finalizer()))
}

// removeFinalizer lets the binding go. One that is gone is fine.
func (r *BaseReconciler) removeFinalizer(ctx context.Context, b Bindable) error {
	others := slices.DeleteFunc(slices.Clone(b.GetFinalizers()), func(f string) bool { return f == r.finalizer() })
	err := r.patchFinalizers(ctx, b, append([]string{}, others...))
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// patchFinalizers replaces the whole list, so it holds for this resourceVersion
// only. What is written next is written to the object as it is then.
func (r *BaseReconciler) patchFinalizers(ctx context.Context, b Bindable, finalizers []string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"finalizers": finalizers, "resourceVersion": b.GetResourceVersion(),
	}})
	if err != nil {
		return fmt.Errorf("encode finalizers: %w", err)
	}
	patched, err := r.bindings(b).Patch(ctx, b.GetName(), types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("write finalizers of %s/%s: %w", b.GetNamespace(), b.GetName(), err)
	}
	b.SetResourceVersion(patched.GetResourceVersion())
	b.SetFinalizers(patched.GetFinalizers())
	return nil
}

// writeStatus writes the binding's status if it is another than cached.
func (r *BaseReconciler) writeStatus(ctx context.Context, cached, b Bindable) error {
	before, err := runtime.DefaultUnstructuredConverter.ToUnstructured(cached)
	if err != nil {
		return fmt.Errorf("read the binding that was: %w", err)
	}
	after, err := runtime.DefaultUnstructuredConverter.ToUnstructured(b)
	if err != nil {
		return fmt.Errorf("read the binding: %w", err)
	}
	if equality.Semantic.DeepEqual(before["status"], after["status"]) {
		return nil
	}
	object := &unstructured.Unstructured{Object: after}
	object.SetGroupVersionKind(b.GetGroupVersionKind())
	if _, err := r.bindings(b).UpdateStatus(ctx, object, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("write status of %s/%s: %w", b.GetNamespace(), b.GetName(), err)
	}
	return nil
}
