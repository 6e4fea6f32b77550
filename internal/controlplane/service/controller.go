// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package service reconciles Services: each has a Configuration and a Route of its name, made from it and kept as it says, and
// mirrors their statuses (API specification, Service; facts.md 4.1). It knows nothing of what those two do with it.
package service

import (
	"context"

	"k8s.io/client-go/tools/cache"

	v1 "weir.dev/api/serving/v1"
	servingclient "weir.dev/client/injection/client"
	configurationinformer "weir.dev/client/injection/informers/serving/v1/configuration"
	revisioninformer "weir.dev/client/injection/informers/serving/v1/revision"
	routeinformer "weir.dev/client/injection/informers/serving/v1/route"
	serviceinformer "weir.dev/client/injection/informers/serving/v1/service"
	servicereconciler "weir.dev/client/injection/reconciler/serving/v1/service"
	"weir.dev/internal/controlplane/config"
	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
)

// Config is what the controller needs beside the API.
type Config struct {
	// Follow looks at what templates refer to; required.
	Follow Follower
}

// NewController returns the controller of Services.
func (c Config) NewController(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
	services := serviceinformer.Get(ctx)
	configurations := configurationinformer.Get(ctx)
	routes := routeinformer.Get(ctx)

	impl := servicereconciler.NewImpl(ctx, &Reconciler{
		client:         servingclient.Get(ctx),
		configurations: configurations.Lister(),
		routes:         routes.Lister(),
		revisions:      revisioninformer.Get(ctx).Lister(),
		follow:         c.Follow,
	}, func(*controller.Impl) controller.Options {
		store := config.ForDefaulting(ctx, cmw, config.DeploymentName) // the latter for digests
		return controller.Options{ConfigStore: store, SettleStatus: config.SettleStatus}
	})
	c.Follow.OnDone(impl.EnqueueKey)

	services.Informer().AddEventHandler(controller.HandleAll(impl.Enqueue)) //nolint:errcheck // fails only on a stopped informer
	owned := cache.FilteringResourceEventHandler{
		FilterFunc: controller.FilterController(&v1.Service{}),
		Handler:    controller.HandleAll(impl.EnqueueControllerOf),
	}
	configurations.Informer().AddEventHandler(owned) //nolint:errcheck // as above
	routes.Informer().AddEventHandler(owned)         //nolint:errcheck // as above
	return impl
}
