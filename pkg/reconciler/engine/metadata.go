// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// writeMetadata writes the labels and annotations of desired that differ from
// what is stored, where the controller's author asked for that, and returns the
// object as it is then. Entries that somebody else changed meanwhile stay.
func (r *Reconciler[T]) writeMetadata(ctx context.Context, stored, desired T) (T, error) {
	if !r.options.SyncMetadata {
		return stored, nil
	}
	changes := map[string]any{}
	if labels := changed(stored.GetLabels(), desired.GetLabels()); len(labels) > 0 {
		changes["labels"] = labels
	}
	if annotations := changed(stored.GetAnnotations(), desired.GetAnnotations()); len(annotations) > 0 {
		changes["annotations"] = annotations
	}
	if len(changes) == 0 {
		return stored, nil
	}
	changes["uid"] = stored.GetUID() // not another object of that name
	patch, err := json.Marshal(map[string]any{"metadata": changes})
	if err != nil {
		return stored, fmt.Errorf("encoding the metadata patch: %w", err)
	}
	patched, err := r.kind.Client(stored.GetNamespace()).Patch(ctx, stored.GetName(), types.MergePatchType, patch, metav1.PatchOptions{})
	if err == nil {
		return patched, nil
	}
	if !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		r.recorder.Eventf(desired, corev1.EventTypeWarning, "UpdateFailed",
			"Failed to update labels and annotations for %q: %v", desired.GetName(), err)
	}
	return stored, fmt.Errorf("updating the metadata of %s %s: %w", r.kind.GVK.Kind, desired.GetName(), err)
}

// changed is what a merge patch says to make before after: null for what goes.
func changed(before, after map[string]string) map[string]any {
	patch := map[string]any{}
	for key, value := range after {
		if old, ok := before[key]; !ok || old != value {
			patch[key] = value
		}
	}
	for key := range before {
		if _, ok := after[key]; !ok {
			patch[key] = nil
		}
	}
	return patch
}
