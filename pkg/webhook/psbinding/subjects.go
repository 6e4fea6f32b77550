// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package psbinding

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"gomodules.xyz/jsonpatch/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"weir.dev/pkg/apis"
	"weir.dev/pkg/apis/duck"
	duckv1 "weir.dev/pkg/apis/duck/v1"
	"weir.dev/pkg/tracker"
)

// subjectMissing says that the subject of a name does not exist.
type subjectMissing struct{ subject tracker.Reference }

func (e subjectMissing) Error() string {
	return fmt.Sprintf("%s %s/%s does not exist", e.subject.Kind, e.subject.Namespace, e.subject.Name)
}

// ReconcileSubject calls mutation, Do or Undo, for the subjects of a binding and
// writes what it changes. A subject that forbids bindings is left out.
func (r *BaseReconciler) ReconcileSubject(ctx context.Context, b Bindable, mutation Mutation) error {
	subject := subjectOf(b)
	gvr := apis.KindToResource(subject.GroupVersionKind())
	_, lister, err := r.Factory.Get(ctx, gvr)
	if err != nil {
		return fmt.Errorf("watch subjects: %w", err)
	}
	found, err := find(lister.ByNamespace(subject.Namespace), subject)
	if err != nil {
		return err
	}
	if r.WithContext != nil {
		wrapped, err := r.WithContext(ctx, b)
		if err == nil {
			ctx = wrapped
		} else if b.GetDeletionTimestamp() == nil {
			return fmt.Errorf("prepare the binding: %w", err)
		}
	}
	var errs []error
	for _, object := range found {
		errs = append(errs, r.mutate(ctx, gvr, object, mutation))
	}
	return errors.Join(errs...)
}

func find(lister cache.GenericNamespaceLister, subject tracker.Reference) ([]runtime.Object, error) {
	if subject.Selector == nil {
		object, err := lister.Get(subject.Name)
		if apierrors.IsNotFound(err) {
			return nil, subjectMissing{subject}
		}
		return []runtime.Object{object}, err
	}
	selector, err := metav1.LabelSelectorAsSelector(subject.Selector)
	if err != nil {
		return nil, fmt.Errorf("selector of the subjects: %w", err)
	}
	return lister.List(selector)
}

// mutate writes the change of one subject as it is in the cache. If the subject
// has changed since, that is a conflict.
func (r *BaseReconciler) mutate(ctx context.Context, gvr schema.GroupVersionResource, object runtime.Object, mutation Mutation) error {
	before, ok := object.(*duckv1.WithPod)
	if !ok {
		return fmt.Errorf("a %T has no pod template", object)
	}
	if before.Labels[duck.BindingExcludeLabel] == "true" || before.DeletionTimestamp != nil {
		return nil
	}
	after := before.DeepCopy()
	mutation(ctx, after)
	patch, err := duck.CreatePatch(before, after)
	if err != nil || len(patch) == 0 {
		return err
	}
	if before.ResourceVersion != "" {
		of := jsonpatch.NewOperation("replace", "/metadata/resourceVersion", before.ResourceVersion)
		patch = append(duck.JSONPatch{of}, patch...)
	}
	data, err := json.Marshal(patch)
	if err != nil {
		return fmt.Errorf("encode the change of a subject: %w", err)
	}
	_, err = r.DynamicClient.Resource(gvr).Namespace(before.Namespace).Patch(ctx, before.Name, types.JSONPatchType, data, metav1.PatchOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("change %s %s/%s: %w", gvr.Resource, before.Namespace, before.Name, err)
	}
	return nil
}

// labelNamespace has a namespace ask for bindings, unless it forbids them.
func (r *BaseReconciler) labelNamespace(ctx context.Context, name string) error {
	if r.NamespaceLister == nil {
		return nil
	}
	namespace, err := r.NamespaceLister.Get(name)
	if apierrors.IsNotFound(err) {
		return nil // so there is no subject either
	}
	if err != nil {
		return fmt.Errorf("read namespace %s: %w", name, err)
	}
	_, included := namespace.Labels[duck.BindingIncludeLabel]
	_, excluded := namespace.Labels[duck.BindingExcludeLabel]
	if included || excluded {
		return nil
	}
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:"true"}}}`, duck.BindingIncludeLabel)
	namespaces := r.DynamicClient.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	if _, err = namespaces.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("label namespace %s: %w", name, err)
	}
	return nil
}
