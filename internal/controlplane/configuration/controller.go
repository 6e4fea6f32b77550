// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package configuration reconciles Configurations: each new template becomes a Revision, and the status says which Revision
// is the newest and which the newest that became ready (API specification, Configuration; facts.md 4.2). It does not know
// what a Revision runs as or who routes to it.
package configuration

import (
	"context"
	"time"

	"k8s.io/client-go/tools/cache"

	v1 "weir.dev/api/serving/v1"
	servingclient "weir.dev/client/injection/client"
	configurationinformer "weir.dev/client/injection/informers/serving/v1/configuration"
	revisioninformer "weir.dev/client/injection/informers/serving/v1/revision"
	configurationreconciler "weir.dev/client/injection/reconciler/serving/v1/configuration"
	"weir.dev/internal/controlplane/config"
	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
)

// NewController returns the controller of Configurations.
func NewController(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
	revisions := revisioninformer.Get(ctx)
	impl := configurationreconciler.NewImpl(ctx, &Reconciler{
		client:    servingclient.Get(ctx),
		revisions: revisions.Lister(),
		now:       time.Now,
	}, func(*controller.Impl) controller.Options {
		return controller.Options{ConfigStore: config.ForDefaulting(ctx, cmw), SettleStatus: config.SettleStatus}
	})

	//nolint:errcheck // adding a handler fails only on a stopped informer
	configurationinformer.Get(ctx).Informer().AddEventHandler(controller.HandleAll(impl.Enqueue))
	//nolint:errcheck // as above
	revisions.Informer().AddEventHandler(cache.FilteringResourceEventHandler{
		FilterFunc: controller.FilterController(&v1.Configuration{}),
		Handler:    controller.HandleAll(impl.EnqueueControllerOf),
	})
	return impl
}
