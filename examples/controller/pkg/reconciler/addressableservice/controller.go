// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package addressableservice reconciles AddressableServices: it finds the
// Service, says its address in the status, and lists it in the directory.
package addressableservice

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	addressableserviceinformer "weir.dev/examples/controller/pkg/client/injection/informers/samples/v1alpha1/addressableservice"
	addressableservicereconciler "weir.dev/examples/controller/pkg/client/injection/reconciler/samples/v1alpha1/addressableservice"
	"weir.dev/examples/controller/pkg/config"
	"weir.dev/examples/controller/pkg/directory"
	kubeclient "weir.dev/pkg/client/injection/kube/client"
	configmapinformer "weir.dev/pkg/client/injection/kube/informers/core/v1/configmap/filtered"
	svcinformer "weir.dev/pkg/client/injection/kube/informers/core/v1/service"
	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/logging"
	"weir.dev/pkg/system"
)

// NewController makes the controller of AddressableServices.
func NewController(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
	addressables := addressableserviceinformer.Get(ctx)
	services := svcinformer.Get(ctx)

	r := &Reconciler{
		services: services.Lister(),
		directory: &directory.Directory{
			Namespace: system.NamespaceOf(ctx),
			Client:    kubeclient.Get(ctx),
			Lister:    configmapinformer.Get(ctx, directory.Selector).Lister(),
		},
	}
	impl := addressableservicereconciler.NewImpl(ctx, r, func(impl *controller.Impl) controller.Options {
		store := config.NewStore(logging.FromContext(ctx), func(string, any) {
			impl.GlobalResync(addressables.Informer())
		})
		store.WatchConfigs(cmw)
		return controller.Options{ConfigStore: store}
	})
	r.tracker = impl.Tracker

	//nolint:errcheck // adding a handler fails only on a stopped informer
	addressables.Informer().AddEventHandler(controller.HandleAll(impl.Enqueue))
	//nolint:errcheck // as above
	services.Informer().AddEventHandler(controller.HandleAll(
		// What is tracked by kind must carry it, which objects of informers do not.
		controller.EnsureTypeMeta(impl.Tracker.OnChanged, corev1.SchemeGroupVersion.WithKind("Service")),
	))
	return impl
}
