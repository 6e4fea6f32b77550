// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package generated is the section "Generated Reconcilers" with their part of
// "Implementing Reconcilers" and "Artifacts".
package generated

import (
	"context"

	samplesv1alpha1 "weir.dev/examples/controller/pkg/apis/samples/v1alpha1"
	addressableservicereconciler "weir.dev/examples/controller/pkg/client/injection/reconciler/samples/v1alpha1/addressableservice"
	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/reconciler"
)

// NewController is the constructor with a generated reconciler.
func NewController(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
	c := &Reconciler{}
	impl := addressableservicereconciler.NewImpl(ctx, c)
	return impl
}

// Check that our Reconciler implements Interface
var _ addressableservicereconciler.Interface = (*Reconciler)(nil)

// Check that our Reconciler implements Interface
var _ addressableservicereconciler.Finalizer = (*Reconciler)(nil)

// Reconciler does what its functions do.
type Reconciler struct {
	// OnReconcile and OnFinalize are the methods.
	OnReconcile, OnFinalize func(ctx context.Context, o *samplesv1alpha1.AddressableService) reconciler.Event
}

// ReconcileKind is expected of it.
func (r *Reconciler) ReconcileKind(ctx context.Context, o *samplesv1alpha1.AddressableService) reconciler.Event {
	return r.OnReconcile(ctx, o)
}

// FinalizeKind is expected of it if finalizers are required.
func (r *Reconciler) FinalizeKind(ctx context.Context, o *samplesv1alpha1.AddressableService) reconciler.Event {
	return r.OnFinalize(ctx, o)
}

// Bare is a Reconciler without finalizers.
type Bare struct{ *Reconciler }

// FinalizeKind of another type is no finalizer.
func (Bare) FinalizeKind() {}
