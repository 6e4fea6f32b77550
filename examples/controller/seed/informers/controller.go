// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package informers is the section "Consuming Informers".
package informers

import (
	"context"

	// These are how you access a client or informer off of the "ctx" passed
	// to set up the controller.
	kubeclient "weir.dev/pkg/client/injection/kube/client"
	svcinformer "weir.dev/pkg/client/injection/kube/informers/core/v1/service"

	// Other imports ...
	"k8s.io/client-go/kubernetes"
	corev1listers "k8s.io/client-go/listers/core/v1"

	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/logging"
)

// NewController accesses informers.
func NewController(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
	logger := logging.FromContext(ctx)

	// Access informers
	svcInformer := svcinformer.Get(ctx)

	c := &Reconciler{
		// Pass the lister and client to the Reconciler.
		Client:        kubeclient.Get(ctx),
		ServiceLister: svcInformer.Lister(),
		Seen:          make(chan string, 1),
	}
	impl := controller.NewImpl(c, logger, "NameOfController")

	// Set up event handlers.
	svcInformer.Informer().AddEventHandler(controller.HandleAll(impl.Enqueue))

	return impl
}

// Reconciler has a lister and a client.
type Reconciler struct {
	Client        kubernetes.Interface
	ServiceLister corev1listers.ServiceLister
	// Seen gets the keys.
	Seen chan string
}

// Reconcile implements controller.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, key string) error {
	r.Seen <- key
	return nil
}
