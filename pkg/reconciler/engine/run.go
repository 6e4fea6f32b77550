// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	duckv1 "weir.dev/pkg/apis/duck/v1"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/logging"
	"weir.dev/pkg/reconciler"
)

// run is the work on one key.
type run[T Object[T]] struct {
	*Reconciler[T]

	key      types.NamespacedName
	leads    bool
	observer ReadOnly[T] // nil unless the reconciler is one
}

// do runs the method that fits the object's state, then writes what came of it.
func (r run[T]) do(ctx context.Context, cached T) error {
	finalizer, finalizes := r.reconciler.(Finalizer[T])
	switch deleting := cached.GetDeletionTimestamp() != nil; {
	case !r.leads:
		return r.observe(ctx, cached)
	case !deleting:
		return r.reconcileKind(ctx, cached, finalizes)
	case finalizes:
		return r.finalizeKind(ctx, cached, finalizer)
	}
	return nil // being deleted, and that is others' work
}

// observe writes nothing at all, not even events: this replica does not lead.
func (r run[T]) observe(ctx context.Context, cached T) error {
	event := contain(ctx, r.observer.ObserveKind, cached.DeepCopy())
	if _, ok := event.(*reconciler.ReconcilerEvent); ok {
		return nil
	}
	return event
}

func (r run[T]) reconcileKind(ctx context.Context, cached T, finalizes bool) error {
	if finalizes {
		var err error
		if cached, err = r.addFinalizer(ctx, cached); apierrors.IsNotFound(err) {
			return nil // its deletion brings the key back
		} else if err != nil {
			return err
		}
	}
	obj := cached.DeepCopy()
	shaped, ok := any(obj).(duckv1.KRShaped)
	ok = ok && r.kind.KRShaped
	if ok {
		reconciler.PreProcessReconcile(ctx, shaped)
	}
	event := contain(ctx, r.reconciler.ReconcileKind, obj)
	if isPanic(event) {
		return r.report(ctx, obj, event) // a status made halfway is worth nothing
	}
	if ok {
		before, _ := any(cached).(duckv1.KRShaped)
		reconciler.PostProcessReconcile(ctx, shaped, before)
		if wait := r.settle(before, shaped, event); wait > 0 {
			return r.later(ctx, cached, obj, event, wait)
		}
	}
	stored, err := r.writeMetadata(ctx, cached, obj)
	if err := errors.Join(err, r.writeStatus(ctx, stored, obj)); err != nil {
		return err
	}
	return r.report(ctx, obj, event)
}

// finalizeKind looks past the cache first: one that is behind, as just after
// the finalizer was removed or when leadership comes with the connection, shows
// an object that is finalized already, and FinalizeKind must not see it again.
// Its context ends when another replica may take over.
func (r run[T]) finalizeKind(ctx context.Context, cached T, finalizer Finalizer[T]) error {
	if !hasFinalizer(cached, r.finalizer) {
		return nil
	}
	stored, err := r.reread(ctx, cached)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading %s %s: %w", r.kind.GVK.Kind, r.key, err)
	}
	if !hasFinalizer(stored, r.finalizer) {
		return nil
	}
	obj := stored.DeepCopy()
	leading, cancel := r.WhileLeading(ctx, r.key)
	defer cancel()
	event := contain(leading, finalizer.FinalizeKind, obj)
	switch {
	case isPanic(event):
		return r.report(ctx, obj, event)
	case !completes(event) && leading.Err() != nil:
		return controller.NewSkipKey(r.key.String()) // whoever leads by now finalizes it
	case completes(event):
		// With the finalizer the object goes: there is no status to write.
		if err := r.removeFinalizer(ctx, stored); err != nil {
			return err
		}
		return r.report(ctx, obj, event)
	}
	if err := r.writeStatus(ctx, stored, obj); err != nil {
		return err
	}
	return r.report(ctx, obj, event)
}

// completes tells whether a finalizer's event lets the object go.
func completes(event reconciler.Event) bool {
	if event == nil {
		return true
	}
	e, ok := event.(*reconciler.ReconcilerEvent)
	return ok && e.EventType == corev1.EventTypeNormal
}

// report records the event and returns what the queue must know. An event that
// was returned as it is counts as success, whatever its type.
func (r run[T]) report(ctx context.Context, obj T, event reconciler.Event) error {
	if event == nil {
		return nil
	}
	var e *reconciler.ReconcilerEvent
	if reconciler.EventAs(event, &e) {
		logging.FromContext(ctx).Infow("Reconcile returned an event", "type", e.EventType, "reason", e.Reason, "message", e.Error())
		r.recorder.Event(obj, e.EventType, e.Reason, e.Error())
		if _, direct := event.(*reconciler.ReconcilerEvent); direct {
			return nil
		}
		return event
	}
	if isSilent(event) {
		return event
	}
	r.recorder.Event(obj, corev1.EventTypeWarning, "InternalError", event.Error())
	return event
}

// isSilent tells errors that steer the queue, or pass by themselves, from those
// that a user should see.
func isSilent(err error) bool {
	requeue, _ := controller.IsRequeueKey(err)
	return requeue || controller.IsSkipKey(err) || controller.IsNamespaceTerminating(err) || controller.IsStaleRead(err)
}
