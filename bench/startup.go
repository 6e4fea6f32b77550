// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"weir.dev/pkg/client/injection/kube/informers/apps/v1/controllerrevision"
	"weir.dev/pkg/client/injection/kube/informers/apps/v1/daemonset"
	"weir.dev/pkg/client/injection/kube/informers/apps/v1/deployment"
	"weir.dev/pkg/client/injection/kube/informers/apps/v1/replicaset"
	"weir.dev/pkg/client/injection/kube/informers/apps/v1/statefulset"
	"weir.dev/pkg/client/injection/kube/informers/batch/v1/cronjob"
	"weir.dev/pkg/client/injection/kube/informers/batch/v1/job"
	"weir.dev/pkg/client/injection/kube/informers/core/v1/configmap"
	"weir.dev/pkg/client/injection/kube/informers/core/v1/endpoints"
	"weir.dev/pkg/client/injection/kube/informers/core/v1/limitrange"
	namespaces "weir.dev/pkg/client/injection/kube/informers/core/v1/namespace"
	"weir.dev/pkg/client/injection/kube/informers/core/v1/node"
	"weir.dev/pkg/client/injection/kube/informers/core/v1/persistentvolume"
	"weir.dev/pkg/client/injection/kube/informers/core/v1/persistentvolumeclaim"
	"weir.dev/pkg/client/injection/kube/informers/core/v1/pod"
	"weir.dev/pkg/client/injection/kube/informers/core/v1/podtemplate"
	"weir.dev/pkg/client/injection/kube/informers/core/v1/replicationcontroller"
	"weir.dev/pkg/client/injection/kube/informers/core/v1/resourcequota"
	"weir.dev/pkg/client/injection/kube/informers/core/v1/service"
	"weir.dev/pkg/client/injection/kube/informers/core/v1/serviceaccount"
	cm "weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection"
	"weir.dev/pkg/injection/sharedmain"
	"weir.dev/pkg/logging"
	"weir.dev/pkg/reconciler"
)

// measureStartup takes the time from the start of a main to the first moment
// at which a controller would work: all caches are full.
func measureStartup(ctx context.Context, side string, cfg *rest.Config) (result, error) {
	synced, ended := make(chan struct{}), make(chan error, 1)
	start := time.Now()
	if side == control {
		go func() { ended <- startManager(ctx, cfg, synced) }()
	} else {
		go func() {
			ended <- sharedmain.Run(kitContext(ctx), "bench", cfg, func(ctx context.Context, _ cm.Watcher) *controller.Impl {
				ask(ctx)
				return newController(ctx, synced)
			})
		}()
	}
	err := wait(ctx, synced, ended)
	return result{"ms": float64(time.Since(start).Microseconds()) / 1000}, err
}

// newController makes one that has nothing to do, and tells when it could.
func newController(ctx context.Context, synced chan struct{}) *controller.Impl {
	return controller.NewContext(ctx, &idle{LeaderAwareFuncs: reconciler.LeaderAwareFuncs{
		PromoteFunc: func(reconciler.Bucket, func(reconciler.Bucket, types.NamespacedName)) error {
			close(synced)
			return nil
		},
	}}, controller.ControllerOptions{WorkQueueName: "idle", Logger: logging.FromContext(ctx)})
}

// ask gets what is watched.
func ask(ctx context.Context) {
	pod.Get(ctx)
	configmap.Get(ctx)
	service.Get(ctx)
	serviceaccount.Get(ctx)
	namespaces.Get(ctx)
	node.Get(ctx)
	endpoints.Get(ctx)
	limitrange.Get(ctx)
	persistentvolume.Get(ctx)
	persistentvolumeclaim.Get(ctx)
	podtemplate.Get(ctx)
	replicationcontroller.Get(ctx)
	resourcequota.Get(ctx)
	deployment.Get(ctx)
	replicaset.Get(ctx)
	statefulset.Get(ctx)
	daemonset.Get(ctx)
	controllerrevision.Get(ctx)
	job.Get(ctx)
	cronjob.Get(ctx)
	if n := len(injection.Watches(ctx)); n != 20 {
		panic(fmt.Sprintf("there are %d informers", n))
	}
}

// idle never gets a key.
type idle struct{ reconciler.LeaderAwareFuncs }

// Reconcile implements controller.Reconciler.
func (*idle) Reconcile(context.Context, string) error { return nil }

// startManager does the same with controller-runtime.
func startManager(ctx context.Context, cfg *rest.Config, synced chan struct{}) error {
	mgr, err := newManager(cfg)
	if err != nil {
		return err
	}
	for _, o := range []client.Object{
		&corev1.Pod{}, &corev1.ConfigMap{}, &corev1.Service{}, &corev1.ServiceAccount{}, &corev1.Namespace{}, &corev1.Node{},
		&corev1.Endpoints{}, &corev1.LimitRange{}, &corev1.PersistentVolume{}, &corev1.PersistentVolumeClaim{}, &corev1.PodTemplate{}, //nolint:staticcheck // one of twenty kinds
		&corev1.ReplicationController{}, &corev1.ResourceQuota{},
		&appsv1.Deployment{}, &appsv1.ReplicaSet{}, &appsv1.StatefulSet{}, &appsv1.DaemonSet{}, &appsv1.ControllerRevision{},
		&batchv1.Job{}, &batchv1.CronJob{},
	} {
		if _, err := mgr.GetCache().GetInformer(ctx, o, cache.BlockUntilSynced(false)); err != nil {
			return err
		}
	}
	err = mgr.Add(manager.RunnableFunc(func(context.Context) error {
		close(synced)
		return nil
	}))
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}
