// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package route reconciles Routes: it finds out which Revisions the traffic means, programs an Ingress that leads the Route's
// hosts there, keeps the names inside the cluster, and notes on Revisions that they are routed to (facts.md 4.4 to 4.7).
// How requests get to instances is the business of whoever serves the Ingress.
package route

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	netv1alpha1 "weir.dev/api/networking/v1alpha1"
	"weir.dev/api/serving"
	v1 "weir.dev/api/serving/v1"
	servingclient "weir.dev/client/injection/client"
	ingressinformer "weir.dev/client/injection/informers/networking/v1alpha1/ingress"
	configurationinformer "weir.dev/client/injection/informers/serving/v1/configuration"
	revisioninformer "weir.dev/client/injection/informers/serving/v1/revision"
	routeinformer "weir.dev/client/injection/informers/serving/v1/route"
	routereconciler "weir.dev/client/injection/reconciler/serving/v1/route"
	listers "weir.dev/client/listers/serving/v1"
	"weir.dev/internal/controlplane/config"
	"weir.dev/internal/controlplane/route/referrers"
	kubeclient "weir.dev/pkg/client/injection/kube/client"
	serviceinformer "weir.dev/pkg/client/injection/kube/informers/core/v1/service"
	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/kmeta"
	"weir.dev/pkg/logging"
)

// Names of our indices on shared informers.
const (
	byHost  = "weir.dev/route/host"
	byRoute = "weir.dev/route/referrer"
)

// NewController returns the controller of Routes.
func NewController(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
	routes, services := routeinformer.Get(ctx), serviceinformer.Get(ctx)
	configurations, revisions := configurationinformer.Get(ctx), revisioninformer.Get(ctx)
	ingresses := ingressinformer.Get(ctx)
	index(ctx, ingresses.Informer(), byHost, hostsOf)
	index(ctx, configurations.Informer(), byRoute, referrersOf)
	index(ctx, revisions.Informer(), byRoute, referrersOf)

	r := &Reconciler{
		kube:           kubeclient.Get(ctx),
		client:         servingclient.Get(ctx),
		configurations: configurations.Lister(),
		revisions:      revisions.Lister(),
		ingresses:      ingresses.Lister(),
		services:       services.Lister(),
		now:            time.Now,
		claimants: func(host string) ([]*netv1alpha1.Ingress, error) {
			return lookUp[*netv1alpha1.Ingress](ingresses.Informer().GetIndexer(), byHost, host)
		},
		referrers: &referrers.Writer{
			Client:         servingclient.Get(ctx),
			Revisions:      revisions.Lister(),
			Configurations: configurations.Lister(),
			ReferredRevisions: func(route types.NamespacedName) ([]*v1.Revision, error) {
				return lookUp[*v1.Revision](revisions.Informer().GetIndexer(), byRoute, route.String())
			},
			ReferredConfigurations: func(route types.NamespacedName) ([]*v1.Configuration, error) {
				return lookUp[*v1.Configuration](configurations.Informer().GetIndexer(), byRoute, route.String())
			},
			Now: time.Now,
		},
	}
	impl := routereconciler.NewImpl(ctx, r, func(impl *controller.Impl) controller.Options {
		store := config.Follow(ctx, cmw, []string{config.NetworkName, config.DomainName},
			func(string, any) { impl.GlobalResync(routes.Informer()) })
		return controller.Options{ConfigStore: store, SettleStatus: config.SettleStatus}
	})
	r.tracker = impl.Tracker

	handle(routes.Informer(), controller.HandleAll(impl.Enqueue))
	handle(revisions.Informer(), cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		for _, key := range bornWith(routes.Lister(), obj) {
			impl.EnqueueKey(key)
		}
	}})
	owned := cache.FilteringResourceEventHandler{
		FilterFunc: controller.FilterController(&v1.Route{}),
		Handler:    controller.HandleAll(impl.EnqueueControllerOf),
	}
	handle(services.Informer(), owned)
	handle(ingresses.Informer(), owned)
	for informer, kind := range map[cache.SharedIndexInformer]schema.GroupVersionKind{
		services.Informer():       corev1.SchemeGroupVersion.WithKind("Service"),
		ingresses.Informer():      netv1alpha1.SchemeGroupVersion.WithKind("Ingress"),
		configurations.Informer(): v1.SchemeGroupVersion.WithKind("Configuration"),
		revisions.Informer():      v1.SchemeGroupVersion.WithKind("Revision"),
	} {
		handle(informer, controller.HandleAll(controller.EnsureTypeMeta(impl.Tracker.OnChanged, kind)))
	}
	return impl
}

// handle adds a handler, which fails only on a stopped informer.
func handle(informer cache.SharedIndexInformer, h cache.ResourceEventHandler) {
	_, _ = informer.AddEventHandler(h)
}

// index adds an index, which fails only on a started informer or for a name that is taken.
func index(ctx context.Context, informer cache.SharedIndexInformer, name string, of cache.IndexFunc) {
	if err := informer.AddIndexers(cache.Indexers{name: of}); err != nil {
		logging.FromContext(ctx).Errorw("Cannot index", "index", name, "error", err)
	}
}

// referrersOf indexes Revisions and Configurations by the Routes that lead to them.
func referrersOf(obj any) ([]string, error) {
	accessor, err := kmeta.DeletionHandlingAccessor(obj)
	if err != nil {
		return nil, nil //nolint:nilerr // nothing that a Route could lead to
	}
	keys := referrers.Names(accessor.GetAnnotations())
	for i, name := range keys {
		keys[i] = accessor.GetNamespace() + "/" + name
	}
	return keys, nil
}

// bornWith returns the Routes that a Revision says lead to it and that do not follow its Configuration: it was born so because
// they are of one Service, and they would not hear of it otherwise. One that follows the Configuration does, in time.
func bornWith(routes listers.RouteLister, obj any) []types.NamespacedName {
	rev, ok := obj.(*v1.Revision)
	if !ok {
		return nil
	}
	var keys []types.NamespacedName
	for _, name := range referrers.Names(rev.Annotations) {
		route, err := routes.Routes(rev.Namespace).Get(name)
		if err == nil && slices.ContainsFunc(route.Spec.Traffic, func(t v1.TrafficTarget) bool {
			return t.ConfigurationName == rev.Labels[serving.ConfigurationLabelKey]
		}) {
			continue
		}
		keys = append(keys, types.NamespacedName{Namespace: rev.Namespace, Name: name})
	}
	return keys
}

// lookUp returns the objects under value in an index.
func lookUp[T any](indexer cache.Indexer, index, value string) ([]T, error) {
	found, err := indexer.ByIndex(index, value)
	if err != nil {
		return nil, fmt.Errorf("looking into index %q: %w", index, err)
	}
	typed := make([]T, 0, len(found))
	for _, obj := range found {
		if t, ok := obj.(T); ok {
			typed = append(typed, t)
		}
	}
	return typed, nil
}
