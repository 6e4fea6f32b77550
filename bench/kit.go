// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"weir.dev/pkg/apis"
	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection"
	"weir.dev/pkg/injection/sharedmain"
	"weir.dev/pkg/logging"
	"weir.dev/pkg/reconciler"
	"weir.dev/pkg/reconciler/engine"
	"weir.dev/pkg/reconciler/generic"
	"weir.dev/pkg/system"
)

// kit is the controller on Weir's kit, as generated code makes it.
type kit struct {
	work     *work
	impl     *controller.Impl
	informer cache.SharedIndexInformer
}

// start implements subject.
func (k *kit) start(ctx context.Context, cfg *rest.Config, work *work) (<-chan struct{}, <-chan error) {
	k.work = work
	synced, ended := make(chan struct{}), make(chan error, 1)
	client, err := newThingClient(cfg)
	if err != nil {
		ended <- err
		return synced, ended
	}
	ctor := func(ctx context.Context, _ configmap.Watcher) *controller.Impl {
		k.informer = injection.Share(ctx, kitKey{}, func(ctx context.Context) (cache.SharedIndexInformer, controller.Informer) {
			informer := newThingInformer(ctx, client)
			return informer, informer
		})
		k.impl = engine.NewImpl(ctx, kindOf(client, k.informer.GetIndexer()), k, "", []controller.OptionsFn{func(*controller.Impl) controller.Options {
			return controller.Options{Concurrency: threads, PromoteFunc: func(reconciler.Bucket) { close(synced) }}
		}})
		_, _ = k.informer.AddEventHandler(controller.HandleAll(k.impl.Enqueue))
		_, _ = k.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: work.observe})
		return k.impl
	}
	go func() { ended <- sharedmain.Run(kitContext(ctx), "bench", cfg, ctor) }()
	return synced, ended
}

// kitKey is where the set has the informer.
type kitKey struct{}

// newThingInformer is what informer generators make.
func newThingInformer(ctx context.Context, client func(string) thingClient) cache.SharedIndexInformer {
	all := client("")
	informer := cache.NewSharedIndexInformer(cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return all.List(ctx, o) },
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return all.Watch(ctx, o)
		},
	}, all), &thing{}, controller.GetResyncPeriod(ctx), cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	_ = informer.SetTransform(injection.GetTransform(ctx)) // it fails for one that runs only
	return informer
}

// kindOf is what reconciler generators make.
func kindOf(client func(string) thingClient, indexer cache.Indexer) engine.Kind[*thing] {
	lister := generic.Kind[*thing]{Group: thingGVK.Group, Version: thingGVK.Version, Kind: thingGVK.Kind}.ListerOf(indexer)
	return engine.Kind[*thing]{
		GVK: thingGVK, Plural: "things", KRShaped: true,
		Get:        lister.Get,
		List:       func(s labels.Selector) ([]*thing, error) { return lister.List(s) },
		Client:     func(namespace string) engine.Client[*thing] { return client(namespace) },
		Status:     func(o *thing) any { return &o.Status },
		CopyStatus: func(to, from *thing) { to.Status = from.Status },
	}
}

// kitContext is that of a component that leads alone.
func kitContext(ctx context.Context) context.Context {
	ctx = logging.WithLogger(system.WithNamespace(ctx, "default"), newLogger().Sugar())
	return sharedmain.WithHADisabled(ctx)
}

// resync implements subject.
func (k *kit) resync() { k.impl.GlobalResync(k.informer) }

// ReconcileKind does the work.
func (k *kit) ReconcileKind(_ context.Context, o *thing) reconciler.Event {
	if mark := k.work.mark.Load(); mark != nil {
		o.Status.Annotations = map[string]string{"mark": *mark}
		o.GetConditionSet().Manage(o.GetStatus()).MarkTrue(apis.ConditionReady)
	}
	k.work.runs.add()
	return nil
}
