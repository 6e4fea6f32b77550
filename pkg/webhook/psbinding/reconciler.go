// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package psbinding

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"weir.dev/pkg/apis/duck"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/reconciler"
	"weir.dev/pkg/tracker"
)

// SubResourcesReconcilerInterface looks after what a binding needs besides its
// subjects.
type SubResourcesReconcilerInterface interface {
	// Reconcile is called before subjects are bound.
	Reconcile(ctx context.Context, b Bindable) error
	// ReconcileDeletion is called before they are freed.
	ReconcileDeletion(ctx context.Context, b Bindable) error
}

// BaseReconciler binds the subjects of bindings that are there, and frees them
// before a binding goes.
type BaseReconciler struct {
	reconciler.LeaderAwareFuncs

	// GVR is the bindings' resource.
	GVR schema.GroupVersionResource
	// Get returns a binding as the informer knows it.
	Get func(namespace, name string) (Bindable, error)
	// WithContext adds what Do needs; it may be nil.
	WithContext BindableContext
	// DynamicClient writes bindings, subjects and namespaces.
	DynamicClient dynamic.Interface
	// Factory makes informers of subjects, with the shape of PodSpecable.
	Factory duck.InformerFactory
	// Tracker enqueues bindings whose subjects change.
	Tracker tracker.Interface
	// Recorder records failures as events; it may be nil.
	Recorder record.EventRecorder
	// NamespaceLister, unless nil, has the subjects' namespaces ask for bindings:
	// they are labelled so.
	NamespaceLister corev1listers.NamespaceLister
	// SubResourcesReconciler may be nil.
	SubResourcesReconciler SubResourcesReconcilerInterface
}

var _ controller.Reconciler = (*BaseReconciler)(nil)

// Reconcile works on one binding.
func (r *BaseReconciler) Reconcile(ctx context.Context, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return controller.NewPermanentError(fmt.Errorf("key %q: %w", key, err))
	}
	if !r.IsLeaderFor(types.NamespacedName{Namespace: namespace, Name: name}) {
		return controller.NewSkipKey(key)
	}
	cached, err := r.Get(namespace, name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read binding %s: %w", key, err)
	}
	b, ok := cached.DeepCopyObject().(Bindable)
	if !ok {
		return controller.NewPermanentError(fmt.Errorf("the copy of a %T is none", cached))
	}
	if b.GetDeletionTimestamp() != nil {
		err = r.free(ctx, b)
	} else {
		err = r.bind(ctx, cached, b)
	}
	if err != nil && r.Recorder != nil && !controller.IsSkipKey(err) && !controller.IsStaleRead(err) {
		r.Recorder.Event(b, corev1.EventTypeWarning, "InternalError", err.Error())
	}
	return err
}

// bind binds the subjects and writes how that went.
func (r *BaseReconciler) bind(ctx context.Context, cached, b Bindable) error {
	if err := r.addFinalizer(ctx, b); err != nil {
		return err
	}
	status := b.GetBindingStatus()
	status.InitializeConditions()
	err := r.bindSubjects(ctx, b)
	if controller.IsStaleRead(err) {
		return err // nothing is wrong: it is tried again
	}
	if err == nil {
		status.MarkBindingAvailable()
	}
	status.SetObservedGeneration(b.GetGeneration())
	if missing := (subjectMissing{}); errors.As(err, &missing) {
		err = nil // its creation enqueues the binding
	}
	return errors.Join(err, r.writeStatus(ctx, cached, b))
}

func (r *BaseReconciler) bindSubjects(ctx context.Context, b Bindable) error {
	status := b.GetBindingStatus()
	if r.SubResourcesReconciler != nil {
		if err := r.SubResourcesReconciler.Reconcile(ctx, b); err != nil {
			return err // it has said so in the status
		}
	}
	if err := r.labelNamespace(ctx, subjectOf(b).Namespace); err != nil {
		status.MarkBindingUnavailable("NamespaceLabelingFailed", err.Error())
		return err
	}
	if err := r.Tracker.TrackReference(subjectOf(b), b); err != nil {
		status.MarkBindingUnavailable("TrackingFailed", err.Error())
		return controller.NewPermanentError(fmt.Errorf("track the subject: %w", err))
	}
	err := r.ReconcileSubject(ctx, b, b.Do)
	if missing := (subjectMissing{}); errors.As(err, &missing) {
		status.MarkBindingUnavailable("SubjectMissing", err.Error())
	} else if err != nil {
		status.MarkBindingUnavailable("BindingFailed", err.Error())
	}
	return err
}

// free takes back what was done and lets the binding go.
func (r *BaseReconciler) free(ctx context.Context, b Bindable) error {
	if !r.hasFinalizer(b) {
		return nil
	}
	if r.SubResourcesReconciler != nil {
		if err := r.SubResourcesReconciler.ReconcileDeletion(ctx, b); err != nil {
			return err
		}
	}
	err := r.ReconcileSubject(ctx, b, b.Undo)
	if missing := (subjectMissing{}); err != nil && !errors.As(err, &missing) {
		return err
	}
	return r.removeFinalizer(ctx, b)
}
