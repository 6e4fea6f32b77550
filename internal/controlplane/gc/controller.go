// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package gc

import (
	"context"
	"fmt"
	"time"

	apierrs "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	"weir.dev/api/serving"
	v1 "weir.dev/api/serving/v1"
	clientset "weir.dev/client/clientset/versioned"
	servingclient "weir.dev/client/injection/client"
	configurationinformer "weir.dev/client/injection/informers/serving/v1/configuration"
	revisioninformer "weir.dev/client/injection/informers/serving/v1/revision"
	configurationreconciler "weir.dev/client/injection/reconciler/serving/v1/configuration"
	listers "weir.dev/client/listers/serving/v1"
	"weir.dev/internal/controlplane/config"
	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/logging"
	"weir.dev/pkg/reconciler"
)

// Reconciler removes Revisions of Configurations.
type Reconciler struct {
	client    clientset.Interface
	revisions listers.RevisionLister
	now       func() time.Time
}

var _ configurationreconciler.Interface = (*Reconciler)(nil)

// NewController returns the controller that collects.
func NewController(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
	configurations, revisions := configurationinformer.Get(ctx), revisioninformer.Get(ctx)
	r := &Reconciler{client: servingclient.Get(ctx), revisions: revisions.Lister(), now: time.Now}
	impl := configurationreconciler.NewImpl(ctx, r, func(impl *controller.Impl) controller.Options {
		store := config.Follow(ctx, cmw, []string{config.GCName},
			func(string, any) { impl.GlobalResync(configurations.Informer()) })
		return controller.Options{ConfigStore: store, AgentName: "revision-gc-controller", SkipStatusUpdates: true}
	})

	//nolint:errcheck // adding a handler fails only on a stopped informer
	configurations.Informer().AddEventHandler(controller.HandleAll(impl.Enqueue))
	//nolint:errcheck // as above
	revisions.Informer().AddEventHandler(cache.FilteringResourceEventHandler{
		FilterFunc: controller.FilterController(&v1.Configuration{}),
		Handler:    controller.HandleAll(impl.EnqueueControllerOf),
	})
	return impl
}

// ReconcileKind implements configurationreconciler.Interface.
func (r *Reconciler) ReconcileKind(ctx context.Context, cfg *v1.Configuration) reconciler.Event {
	selector := labels.SelectorFromSet(labels.Set{serving.ConfigurationLabelKey: cfg.Name})
	all, err := r.revisions.Revisions(cfg.Namespace).List(selector)
	if err != nil {
		return fmt.Errorf("listing Revisions of %q: %w", cfg.Name, err)
	}
	for _, rev := range collect(config.FromContext(ctx).GC, cfg.Status.LatestReadyRevisionName, all, r.now()) {
		if rev.DeletionTimestamp != nil || !metav1.IsControlledBy(rev, cfg) {
			continue
		}
		logging.FromContext(ctx).Infow("Deleting superseded revision", "revision", rev.Name)
		err := r.client.ServingV1().Revisions(rev.Namespace).Delete(ctx, rev.Name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &rev.UID, ResourceVersion: &rev.ResourceVersion},
		})
		if err != nil && !apierrs.IsNotFound(err) {
			return fmt.Errorf("deleting Revision %q: %w", rev.Name, err)
		}
	}
	return nil
}
