// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"

	"k8s.io/client-go/tools/cache"

	"weir.dev/internal/controlplane/configuration"
	"weir.dev/internal/controlplane/feed"
	"weir.dev/internal/controlplane/gc"
	"weir.dev/internal/controlplane/ingress"
	"weir.dev/internal/controlplane/revision"
	"weir.dev/internal/controlplane/route"
	"weir.dev/internal/controlplane/service"
	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection"
	"weir.dev/pkg/logging"
)

// constructors make the controllers of all kinds.
func (cp *ControlPlane) constructors() []injection.ControllerConstructor {
	return []injection.ControllerConstructor{
		service.Config{Follow: cp.follow}.NewController,
		configuration.NewController,
		revision.Config{Digests: cp.digests, Drain: cp.cfg.Drain, LocalImage: cp.cfg.LocalImage}.NewController,
		route.NewController,
		cp.newIngressController,
		cp.autoscaler.NewController,
		gc.NewController,
	}
}

// newIngressController gives the feed its sources, which come from the same set of informers, and makes the controller that
// tells what became of the Ingresses served.
func (cp *ControlPlane) newIngressController(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
	if cp.settings != nil {
		cp.settings.WatchConfigs(cmw)
	}
	cp.followLevel(ctx, cmw)
	sources := feed.InformersFrom(ctx)
	if err := cp.feed.Watch(sources); err != nil {
		logging.FromContext(ctx).Panicw("Cannot watch what gateways are to serve", "error", err) // adding handlers to new informers does not fail
	}
	cp.synced <- []cache.InformerSynced{
		sources.Ingresses.HasSynced, sources.Revisions.HasSynced, sources.Pods.HasSynced,
		sources.Services.HasSynced, sources.EndpointSlices.HasSynced,
	}
	return ingress.Config{Gateways: cp.feed}.NewController(ctx, cmw)
}
