// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package autoscaler

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"weir.dev/api/autoscaling"
	"weir.dev/api/autoscaling/v1alpha1"
	"weir.dev/api/config"
	"weir.dev/api/serving"
	painformer "weir.dev/client/injection/informers/autoscaling/v1alpha1/podautoscaler"
	reconcilerv1alpha1 "weir.dev/client/injection/reconciler/autoscaling/v1alpha1/podautoscaler"
	kubeclient "weir.dev/pkg/client/injection/kube/client"
	deploymentinformer "weir.dev/pkg/client/injection/kube/informers/apps/v1/deployment"
	podinformer "weir.dev/pkg/client/injection/kube/informers/core/v1/pod/filtered"
	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/logging"
	"weir.dev/pkg/reconciler"
)

// PodSelector selects the pods that the controller watches. The context of NewController must have it among the
// selectors of filtered informers.
const PodSelector = serving.RevisionUID

// NewController returns the controller of PodAutoscalers of class KPA and binds the Autoscaler to it. It may be called
// once.
func (a *Autoscaler) NewController(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
	autoscalers, deployments := painformer.Get(ctx), deploymentinformer.Get(ctx)
	pods := podinformer.Get(ctx, PodSelector)
	if err := pods.Informer().AddIndexers(cache.Indexers{byRevision: revisionOf}); err != nil {
		logging.FromContext(ctx).Errorw("Cannot index pods", "error", err)
	}
	ours := reconciler.AnnotationFilterFunc(autoscaling.ClassAnnotationKey, autoscaling.KPA, false)

	r := &Reconciler{autoscaler: a}
	impl := reconcilerv1alpha1.NewImpl(ctx, r, autoscaling.KPA, func(impl *controller.Impl) controller.Options {
		store := configmap.NewUntypedStore("autoscaler", logging.FromContext(ctx).Named("config-store"),
			configmap.Constructors{config.AutoscalerName: parseConfig}, func(_ string, value any) {
				a.config.Store(value.(*config.Autoscaler))
				impl.FilteredGlobalResync(ours, autoscalers.Informer())
			})
		store.WatchConfigs(cmw)
		return controller.Options{PromoteFilterFunc: ours}
	})
	r.enqueueAfter = impl.EnqueueKeyAfter
	a.cluster = &cluster{
		kube: kubeclient.Get(ctx), autoscalers: autoscalers.Lister(), deployments: deployments.Lister(),
		pods: pods.Informer().GetIndexer(), enqueue: impl.EnqueueKey, leads: leads(impl),
		log: logging.FromContext(ctx).Named("autoscaler"),
		synced: []cache.InformerSynced{
			autoscalers.Informer().HasSynced, deployments.Informer().HasSynced, pods.Informer().HasSynced,
		},
	}
	handle(autoscalers.Informer(), cache.FilteringResourceEventHandler{FilterFunc: ours, Handler: a.follow(impl)})
	byLabel := impl.EnqueueLabelOfNamespaceScopedResource("", serving.RevisionLabelKey)
	handle(deployments.Informer(), changed(byLabel, replicas))
	handle(pods.Informer(), changed(byLabel, serves))
	close(a.bound)
	return impl
}

// follow keeps a loop for every PodAutoscaler, led or not.
func (a *Autoscaler) follow(impl *controller.Impl) cache.ResourceEventHandler {
	set := func(obj any) {
		if pa, ok := obj.(*v1alpha1.PodAutoscaler); ok {
			a.ensure(pa)
			impl.Enqueue(pa)
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    set,
		UpdateFunc: controller.PassNew(set),
		DeleteFunc: func(obj any) {
			if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
				namespace, name, _ := cache.SplitMetaNamespaceKey(key)
				a.forget(types.NamespacedName{Namespace: namespace, Name: name})
			}
		},
	}
}

// changed passes on objects that come, go, or differ in what of says.
func changed[T any, V comparable](f func(any), of func(T) V) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    f,
		DeleteFunc: f,
		UpdateFunc: func(before, after any) {
			if b, ok := before.(T); ok && of(b) == of(after.(T)) {
				return
			}
			f(after)
		},
	}
}

// handle adds a handler, which fails only on a stopped informer.
func handle(informer cache.SharedIndexInformer, h cache.ResourceEventHandler) {
	_, _ = informer.AddEventHandler(h)
}

// leads says whether this replica acts for a key.
func leads(impl *controller.Impl) func(types.NamespacedName) bool {
	if r, ok := impl.Reconciler.(interface {
		IsLeaderFor(types.NamespacedName) bool
	}); ok {
		return r.IsLeaderFor
	}
	return func(types.NamespacedName) bool { return true }
}

func parseConfig(cm *corev1.ConfigMap) (*config.Autoscaler, error) {
	return config.NewAutoscaler(cm.Data)
}

func revisionOf(obj any) ([]string, error) {
	pod, ok := obj.(*corev1.Pod)
	if !ok || pod.Labels[serving.RevisionUID] == "" {
		return nil, nil
	}
	return []string{pod.Labels[serving.RevisionUID]}, nil
}
