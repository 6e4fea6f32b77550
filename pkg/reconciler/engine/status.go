// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"weir.dev/pkg/reconciler"
)

// writeStatus writes the status of desired if it says anything new against
// what is stored.
func (r *Reconciler[T]) writeStatus(ctx context.Context, stored, desired T) error {
	if r.kind.Status == nil || r.options.SkipStatusUpdates {
		return nil
	}
	err := reconciler.RetryUpdateConflicts(func(attempt int) error {
		if attempt > 0 {
			var err error
			if stored, err = r.reread(ctx, desired); err != nil {
				return err
			}
		}
		return r.updateStatus(ctx, stored, desired)
	})
	// An object that went away in the meantime has no status to be wrong.
	if err == nil || apierrors.IsNotFound(err) {
		return nil
	}
	if !apierrors.IsConflict(err) { // that passes by itself
		r.recorder.Eventf(desired, corev1.EventTypeWarning, "UpdateFailed",
			"Failed to update status for %q: %v", desired.GetName(), err)
	}
	return fmt.Errorf("updating the status of %s %s: %w", r.kind.GVK.Kind, desired.GetName(), err)
}

// reread gets the object past the cache. Another of the same name, made since,
// is as good as none.
func (r *Reconciler[T]) reread(ctx context.Context, obj T) (T, error) {
	stored, err := r.kind.Client(obj.GetNamespace()).Get(ctx, obj.GetName(), metav1.GetOptions{})
	if err == nil && stored.GetUID() != obj.GetUID() {
		return stored, apierrors.NewNotFound(r.kind.resource(), obj.GetName())
	}
	return stored, err
}

func (r *Reconciler[T]) updateStatus(ctx context.Context, stored, desired T) error {
	if same(r.kind.Status(stored), r.kind.Status(desired)) {
		return nil
	}
	update := stored.DeepCopy()
	r.kind.CopyStatus(update, desired)
	_, err := r.kind.Client(desired.GetNamespace()).UpdateStatus(ctx, update, metav1.UpdateOptions{})
	return err
}

// same tells whether two statuses say the same. Most are alike to the letter,
// which is found out without an allocation a field.
func same(a, b any) bool {
	return reflect.DeepEqual(a, b) || equality.Semantic.DeepEqual(a, b)
}
