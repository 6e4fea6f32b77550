// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"weir.dev/pkg/reconciler"
)

func (k *Kind[T]) resource() schema.GroupResource {
	return schema.GroupResource{Group: k.GVK.Group, Resource: k.Plural}
}

func hasFinalizer(obj metav1.Object, finalizer string) bool {
	return slices.Contains(obj.GetFinalizers(), finalizer)
}

// addFinalizer makes sure that the object cannot go without FinalizeKind, and
// returns it as it is then.
func (r *Reconciler[T]) addFinalizer(ctx context.Context, obj T) (T, error) {
	if hasFinalizer(obj, r.finalizer) {
		return obj, nil
	}
	return r.patchFinalizers(ctx, obj, append(slices.Clone(obj.GetFinalizers()), r.finalizer), []string{r.finalizer})
}

// removeFinalizer lets the object go. One that is gone is fine. A conflict is
// no reason to finalize again: the finalizer is removed from what is stored by then.
func (r *Reconciler[T]) removeFinalizer(ctx context.Context, obj T) error {
	err := reconciler.RetryUpdateConflicts(func(attempt int) error {
		if attempt > 0 {
			var err error
			if obj, err = r.reread(ctx, obj); err != nil {
				return err
			}
		}
		if !hasFinalizer(obj, r.finalizer) {
			return nil
		}
		others := slices.DeleteFunc(slices.Clone(obj.GetFinalizers()), func(f string) bool { return f == r.finalizer })
		_, err := r.patchFinalizers(ctx, obj, others, nil)
		return err
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// patchFinalizers sets the finalizers to all, by server-side apply only our
// own ones to ours.
func (r *Reconciler[T]) patchFinalizers(ctx context.Context, obj T, all, ours []string) (T, error) {
	patch, kind, opts := r.mergePatch(obj, all)
	if r.options.UseServerSideApplyForFinalizers {
		patch, kind, opts = r.applyPatch(obj, ours)
	}
	data, err := json.Marshal(patch)
	if err != nil {
		return obj, fmt.Errorf("encoding the finalizer patch: %w", err)
	}
	patched, err := r.kind.Client(obj.GetNamespace()).Patch(ctx, obj.GetName(), kind, data, opts)
	if err != nil {
		if !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			r.recorder.Eventf(obj, corev1.EventTypeWarning, "FinalizerUpdateFailed",
				"Failed to update finalizers for %q: %v", obj.GetName(), err)
		}
		return obj, fmt.Errorf("updating the finalizers of %s %s: %w", r.kind.GVK.Kind, obj.GetName(), err)
	}
	r.recorder.Eventf(obj, corev1.EventTypeNormal, "FinalizerUpdate", "Updated %q finalizers", obj.GetName())
	return patched, nil
}

// mergePatch replaces the whole list, so it holds for this resourceVersion only.
func (r *Reconciler[T]) mergePatch(obj T, finalizers []string) (any, types.PatchType, metav1.PatchOptions) {
	if finalizers == nil {
		finalizers = []string{} // null would be no value in a list's place
	}
	return map[string]any{
		"metadata": map[string]any{
			"finalizers":      finalizers,
			"resourceVersion": obj.GetResourceVersion(),
		},
	}, types.MergePatchType, metav1.PatchOptions{}
}

// applyPatch owns our finalizer alone. The uid keeps it from creating an
// object that is gone.
func (r *Reconciler[T]) applyPatch(obj T, finalizers []string) (any, types.PatchType, metav1.PatchOptions) {
	apiVersion, kind := r.kind.GVK.ToAPIVersionAndKind()
	metadata := map[string]any{"name": obj.GetName(), "uid": obj.GetUID(), "finalizers": finalizers}
	if obj.GetNamespace() != "" {
		metadata["namespace"] = obj.GetNamespace()
	}
	opts := metav1.PatchOptions{FieldManager: r.options.FinalizerFieldManager}
	if r.options.ForceApplyFinalizers {
		opts.Force = &r.options.ForceApplyFinalizers
	}
	return map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": metadata}, types.ApplyPatchType, opts
}
