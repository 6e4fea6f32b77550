// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/go-logr/zapr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"weir.dev/pkg/apis"
)

// managed is the controller on controller-runtime.
type managed struct {
	work     *work
	client   client.Client
	queue    workqueue.TypedRateLimitingInterface[reconcile.Request]
	informer toolscache.SharedIndexInformer
}

// start implements subject.
func (m *managed) start(ctx context.Context, cfg *rest.Config, work *work) (<-chan struct{}, <-chan error) {
	m.work = work
	synced, ended := make(chan struct{}), make(chan error, 1)
	mgr, err := m.setUp(ctx, cfg, synced)
	if err != nil {
		ended <- err
		return synced, ended
	}
	go func() { ended <- mgr.Start(ctx) }()
	return synced, ended
}

func (m *managed) setUp(ctx context.Context, cfg *rest.Config, synced chan struct{}) (manager.Manager, error) {
	mgr, err := newManager(cfg)
	if err != nil {
		return nil, err
	}
	m.client = mgr.GetClient()
	informer, err := mgr.GetCache().GetInformer(ctx, &thing{}, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, err
	}
	m.informer = informer.(toolscache.SharedIndexInformer)
	if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{UpdateFunc: m.work.observe}); err != nil {
		return nil, err
	}
	err = ctrl.NewControllerManagedBy(mgr).For(&thing{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: threads}).
		WatchesRawSource(source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
			m.queue = queue
			return nil
		})).Complete(m)
	if err != nil {
		return nil, err
	}
	return mgr, mgr.Add(manager.RunnableFunc(func(context.Context) error {
		close(synced)
		return nil
	}))
}

// newManager makes one that leads alone and serves nothing.
func newManager(cfg *rest.Config) (manager.Manager, error) {
	ctrl.SetLogger(zapr.NewLogger(newLogger()))
	s := newScheme()
	if err := scheme.AddToScheme(s); err != nil {
		return nil, err
	}
	return ctrl.NewManager(cfg, ctrl.Options{
		Scheme:  s,
		Metrics: metricsserver.Options{BindAddress: "0"},
		Cache:   cache.Options{DefaultTransform: cache.TransformStripManagedFields()},
	})
}

// resync implements subject.
func (m *managed) resync() {
	for _, o := range m.informer.GetStore().List() {
		c := o.(*thing)
		m.queue.Add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: c.Namespace, Name: c.Name}})
	}
}

// Reconcile does the work.
func (m *managed) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	defer m.work.runs.add()
	o := &thing{}
	if err := m.client.Get(ctx, req.NamespacedName, o); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	mark := m.work.mark.Load()
	if mark == nil || o.Status.Annotations["mark"] == *mark {
		return reconcile.Result{}, nil
	}
	o.Status.Annotations = map[string]string{"mark": *mark}
	o.Status.ObservedGeneration = o.Generation
	manager := o.GetConditionSet().Manage(o.GetStatus())
	manager.InitializeConditions()
	manager.MarkTrue(apis.ConditionReady)
	return reconcile.Result{}, m.client.Status().Update(ctx, o)
}
