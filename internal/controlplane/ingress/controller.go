// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package ingress says of each Ingress of Weir's class whether its present generation is served: by every gateway that is
// ready. The gateways get Ingresses through the feed; this package only writes their status. It does not know who made an
// Ingress or what it leads to.
package ingress

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"weir.dev/api/networking"
	ingressinformer "weir.dev/client/injection/informers/networking/v1alpha1/ingress"
	ingressreconciler "weir.dev/client/injection/reconciler/networking/v1alpha1/ingress"
	"weir.dev/internal/controlplane/config"
	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/network"
	"weir.dev/pkg/reconciler"
	"weir.dev/pkg/system"
)

// Names of the k8s Services in the system namespace that lead to the gateways.
const (
	// PublicService leads to the listeners for requests from outside.
	PublicService = "weir-gateway"
	// PrivateService leads to the listeners for requests from inside the cluster.
	PrivateService = "weir-gateway-internal"
)

// Gateways knows what the gateways serve.
type Gateways interface {
	// Served says whether there is a ready gateway, and every one serves that generation of the Ingress.
	Served(namespace, name string, uid types.UID, generation int64) bool
	// OnServed has f called with an Ingress for which the answer of Served may have changed.
	OnServed(f func(types.NamespacedName))
}

// Config is what the controller needs beside the API.
type Config struct {
	Gateways Gateways
}

// NewController returns the controller of Ingresses.
func (c Config) NewController(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
	ingresses := ingressinformer.Get(ctx)
	ours := reconciler.AnnotationFilterFunc(networking.IngressClassAnnotationKey, networking.WeirIngressClassName, false)
	impl := ingressreconciler.NewImpl(ctx, &Reconciler{
		gateways: c.Gateways,
		public:   network.GetServiceHostname(PublicService, system.NamespaceOf(ctx)),
		private:  network.GetServiceHostname(PrivateService, system.NamespaceOf(ctx)),
		now:      time.Now,
	}, networking.WeirIngressClassName, func(impl *controller.Impl) controller.Options {
		store := config.Follow(ctx, cmw, []string{config.DeploymentName},
			func(string, any) { impl.FilteredGlobalResync(ours, ingresses.Informer()) })
		return controller.Options{ConfigStore: store, SettleStatus: config.SettleStatus, PromoteFilterFunc: ours}
	})
	//nolint:errcheck // adding a handler fails only on a stopped informer
	ingresses.Informer().AddEventHandler(cache.FilteringResourceEventHandler{
		FilterFunc: ours,
		Handler:    controller.HandleAll(impl.Enqueue),
	})
	c.Gateways.OnServed(impl.EnqueueKey)
	return impl
}
