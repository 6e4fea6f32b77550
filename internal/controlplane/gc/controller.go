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
	listers "weir.dev/client/listers/serving/v1"
	"weir.dev/internal/controlplane/config"
	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/logging"
	"weir.dev/pkg/reconciler"
)

// queueName names the controller in logs, metrics and leases.
const queueName = "weir.dev.internal.controlplane.gc.reconciler"

// Reconciler removes Revisions of Configurations. It is a plain one: a Configuration's status is not its business.
type Reconciler struct {
	client         clientset.Interface
	configurations listers.ConfigurationLister
	revisions      listers.RevisionLister
	config         reconciler.ConfigStore
	now            func() time.Time
}

var _ controller.Reconciler = (*Reconciler)(nil)

// NewController returns the controller that collects.
func NewController(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
	configurations, revisions := configurationinformer.Get(ctx), revisioninformer.Get(ctx)
	r := &Reconciler{
		client: servingclient.Get(ctx), configurations: configurations.Lister(), revisions: revisions.Lister(), now: time.Now,
	}
	impl := controller.NewContext(ctx, r, controller.ControllerOptions{
		WorkQueueName: queueName, Logger: logging.FromContext(ctx).Named(queueName),
	})
	r.config = config.Follow(ctx, cmw, []string{config.GCName}, func(string, any) { impl.GlobalResync(configurations.Informer()) })

	//nolint:errcheck // adding a handler fails only on a stopped informer
	configurations.Informer().AddEventHandler(controller.HandleAll(impl.Enqueue))
	//nolint:errcheck // as above
	revisions.Informer().AddEventHandler(cache.FilteringResourceEventHandler{
		FilterFunc: controller.FilterController(&v1.Configuration{}),
		Handler:    controller.HandleAll(impl.EnqueueControllerOf),
	})
	return impl
}

// Reconcile implements controller.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return controller.NewPermanentError(err)
	}
	cfg, err := r.configurations.Configurations(namespace).Get(name)
	switch {
	case apierrs.IsNotFound(err):
		return nil // its Revisions go with it
	case err != nil:
		return fmt.Errorf("getting Configuration %q: %w", key, err)
	}
	selector := labels.SelectorFromSet(labels.Set{serving.ConfigurationLabelKey: name})
	all, err := r.revisions.Revisions(namespace).List(selector)
	if err != nil {
		return fmt.Errorf("listing Revisions of %q: %w", key, err)
	}
	rules := rulesFor(cfg, config.FromContext(r.config.ToContext(ctx)).GC)
	for _, rev := range collect(rules, cfg.Status.ConfigurationStatusFields, all, r.now()) {
		if rev.DeletionTimestamp != nil || !metav1.IsControlledBy(rev, cfg) {
			continue
		}
		if err := r.remove(ctx, rev); err != nil {
			return err
		}
	}
	return nil
}

// remove deletes rev, unless it has changed: it may be routed to again.
func (r *Reconciler) remove(ctx context.Context, rev *v1.Revision) error {
	logging.FromContext(ctx).Infow("Deleting superseded revision", "revision", rev.Name)
	err := r.client.ServingV1().Revisions(rev.Namespace).Delete(ctx, rev.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &rev.UID, ResourceVersion: &rev.ResourceVersion},
	})
	if err != nil && !apierrs.IsNotFound(err) {
		return fmt.Errorf("deleting Revision %q: %w", rev.Name, err)
	}
	return nil
}
