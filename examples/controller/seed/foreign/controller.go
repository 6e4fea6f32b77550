// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package foreign is the last of the "Future features": a typed reconciler of a
// type that is somebody else's, without annotating it, and here without
// generating anything.
package foreign

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"

	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/reconciler"
	"weir.dev/pkg/reconciler/generic"
)

// deployments are a kind of Kubernetes' own.
var deployments = generic.Kind[*appsv1.Deployment]{Group: "apps", Version: "v1", Kind: "Deployment"}

// NewController makes a controller of Deployments.
func NewController(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
	return newController(ctx, &Reconciler{Seen: make(chan *appsv1.Deployment, 1)})
}

func newController(ctx context.Context, c *Reconciler) *controller.Impl {
	impl := generic.For(ctx, deployments, c)
	deployments.Informer(ctx).AddEventHandler(controller.HandleAll(impl.Enqueue))
	return impl
}

// Reconciler looks at Deployments.
type Reconciler struct {
	// Seen gets them.
	Seen chan *appsv1.Deployment
}

// ReconcileKind is typed, as that of a generated reconciler.
func (r *Reconciler) ReconcileKind(ctx context.Context, o *appsv1.Deployment) reconciler.Event {
	r.Seen <- o
	return nil
}
