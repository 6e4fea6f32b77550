// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package revision reconciles Revisions: each runs as a Deployment that a PodAutoscaler scales, and its status says whether it
// can serve and, if not, why (facts.md 3.3, 3.4, 4.3). What to run is computed by package workload, what went wrong by
// package health, which image a tag means by package digest. It knows nothing of Routes but the label that says that there
// is one.
package revision

import (
	"context"
	"net/netip"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"weir.dev/api/serving"
	v1 "weir.dev/api/serving/v1"
	servingclient "weir.dev/client/injection/client"
	painformer "weir.dev/client/injection/informers/autoscaling/v1alpha1/podautoscaler"
	configurationinformer "weir.dev/client/injection/informers/serving/v1/configuration"
	revisioninformer "weir.dev/client/injection/informers/serving/v1/revision"
	revisionreconciler "weir.dev/client/injection/reconciler/serving/v1/revision"
	"weir.dev/internal/controlplane/config"
	"weir.dev/internal/controlplane/digest"
	kubeclient "weir.dev/pkg/client/injection/kube/client"
	deploymentinformer "weir.dev/pkg/client/injection/kube/informers/apps/v1/deployment"
	podinformer "weir.dev/pkg/client/injection/kube/informers/core/v1/pod/filtered"
	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
)

// PodSelector selects the pods that the controller watches. The context of NewController must have it among the selectors of
// filtered informers.
const PodSelector = serving.RevisionUID

// Digests looks images up.
type Digests interface {
	// Resolve returns results by image, or false while they are not there.
	Resolve(digest.Request) (map[string]digest.Result, bool)
	// Forget drops the results for a Revision.
	Forget(types.UID)
}

// Config is what the controller needs beside the API.
type Config struct {
	Digests Digests
	// LocalImage names by digest an image of this machine, "" where it is none or not there (yet); required.
	LocalImage func(image string) string
	// Drain is where instances that go away wait for their requests to end; see workload.Settings.
	Drain netip.AddrPort
}

// NewController returns the controller of Revisions.
func (c Config) NewController(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
	revisions, deployments := revisioninformer.Get(ctx), deploymentinformer.Get(ctx)
	autoscalers, pods := painformer.Get(ctx), podinformer.Get(ctx, PodSelector)
	configurations := configurationinformer.Get(ctx)
	r := &Reconciler{
		kube:           kubeclient.Get(ctx),
		client:         servingclient.Get(ctx),
		configurations: configurations.Lister(),
		deployments:    deployments.Lister(),
		autoscalers:    autoscalers.Lister(),
		pods:           pods.Lister(),
		digests:        c.Digests,
		localImage:     c.LocalImage,
		drain:          c.Drain,
		now:            time.Now,
		asked:          digest.NewPauses(clock.RealClock{}),
	}
	impl := revisionreconciler.NewImpl(ctx, r, func(impl *controller.Impl) controller.Options {
		store := config.Follow(ctx, cmw, []string{config.DeploymentName, config.AutoscalerName, config.ObservabilityName},
			func(string, any) { impl.GlobalResync(revisions.Informer()) })
		return controller.Options{ConfigStore: store, SettleStatus: config.SettleStatus}
	})
	r.tracker, r.enqueue = impl.Tracker, impl.EnqueueKey

	handle(revisions.Informer(), controller.HandleAll(impl.Enqueue))
	handle(pods.Informer(), controller.HandleAll(impl.EnqueueLabelOfNamespaceScopedResource("", serving.RevisionLabelKey)))
	owned := cache.FilteringResourceEventHandler{
		FilterFunc: controller.FilterController(&v1.Revision{}),
		Handler:    controller.HandleAll(impl.EnqueueControllerOf),
	}
	handle(deployments.Informer(), owned)
	handle(autoscalers.Informer(), owned)
	handle(configurations.Informer(), controller.HandleAll(controller.EnsureTypeMeta(impl.Tracker.OnChanged,
		v1.SchemeGroupVersion.WithKind("Configuration"))))
	return impl
}

// handle adds a handler, which fails only on a stopped informer.
func handle(informer cache.SharedIndexInformer, h cache.ResourceEventHandler) {
	_, _ = informer.AddEventHandler(h)
}
