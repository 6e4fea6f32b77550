// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/kubernetes/pkg/controller/cronjob"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/disruption"
	"k8s.io/kubernetes/pkg/controller/endpointslice"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/controller/podautoscaler"
	"k8s.io/kubernetes/pkg/controller/podautoscaler/metrics"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"k8s.io/kubernetes/pkg/controller/statefulset"
	resourceclient "k8s.io/metrics/pkg/client/clientset/versioned/typed/metrics/v1beta1"
	"k8s.io/metrics/pkg/client/custom_metrics"
	"k8s.io/metrics/pkg/client/external_metrics"
)

func (cc *controllerContext) deployment(ctx context.Context) (loop, error) {
	apps := cc.shared.Apps().V1()
	dc, err := deployment.NewDeploymentController(ctx, apps.Deployments(), apps.ReplicaSets(), cc.shared.Core().V1().Pods(),
		cc.client)
	return loop{"deployment", func(ctx context.Context) { dc.Run(ctx, workers) }}, err
}

func (cc *controllerContext) replicaSet(ctx context.Context) (loop, error) {
	rs := replicaset.NewReplicaSetController(ctx, cc.shared.Apps().V1().ReplicaSets(), cc.shared.Core().V1().Pods(),
		cc.client, replicaset.BurstReplicas)
	return loop{"replicaset", func(ctx context.Context) { rs.Run(ctx, workers) }}, nil
}

func (cc *controllerContext) statefulSet(ctx context.Context) (loop, error) {
	core, apps := cc.shared.Core().V1(), cc.shared.Apps().V1()
	ss := statefulset.NewStatefulSetController(ctx, core.Pods(), apps.StatefulSets(), core.PersistentVolumeClaims(),
		apps.ControllerRevisions(), cc.client)
	return loop{"statefulset", func(ctx context.Context) { ss.Run(ctx, workers) }}, nil
}

func (cc *controllerContext) daemonSet(ctx context.Context) (loop, error) {
	core, apps := cc.shared.Core().V1(), cc.shared.Apps().V1()
	ds, err := daemon.NewDaemonSetsController(ctx, apps.DaemonSets(), apps.ControllerRevisions(), core.Pods(), core.Nodes(),
		cc.client, flowcontrol.NewBackOff(time.Second, 15*time.Minute))
	return loop{"daemonset", func(ctx context.Context) { ds.Run(ctx, workers) }}, err
}

func (cc *controllerContext) job(ctx context.Context) (loop, error) {
	// Workloads and PodGroups belong to a feature that is off.
	jc, err := job.NewController(ctx, cc.client, cc.shared.Core().V1().Pods(), cc.shared.Batch().V1().Jobs(), nil, nil)
	return loop{"job", func(ctx context.Context) { jc.Run(ctx, workers) }}, err
}

func (cc *controllerContext) cronJob(ctx context.Context) (loop, error) {
	batch := cc.shared.Batch().V1()
	cj, err := cronjob.NewControllerV2(ctx, batch.Jobs(), batch.CronJobs(), cc.client)
	return loop{"cronjob", func(ctx context.Context) { cj.Run(ctx, workers) }}, err
}

func (cc *controllerContext) endpointSlice(ctx context.Context) (loop, error) {
	core := cc.shared.Core().V1()
	const perSlice, batch = 100, 0 // no batching: a Service has few endpoints, and somebody may wait for them
	es := endpointslice.NewController(ctx, core.Pods(), core.Services(), core.Nodes(),
		cc.shared.Discovery().V1().EndpointSlices(), perSlice, cc.client, batch)
	return loop{"endpointslice", func(ctx context.Context) { es.Run(ctx, workers) }}, nil
}

func (cc *controllerContext) scaleClient() (scale.ScalesGetter, error) {
	kinds := scale.NewDiscoveryScaleKindResolver(discovery.NewDiscoveryClient(cc.client.Discovery().RESTClient()))
	return scale.NewForConfig(cc.config, cc.mapper, dynamic.LegacyAPIPathResolverFunc, kinds)
}

func (cc *controllerContext) disruption(ctx context.Context) (loop, error) {
	scales, err := cc.scaleClient()
	if err != nil {
		return loop{name: "disruption"}, err
	}
	core, apps := cc.shared.Core().V1(), cc.shared.Apps().V1()
	dc := disruption.NewDisruptionController(ctx, core.Pods(), cc.shared.Policy().V1().PodDisruptionBudgets(),
		core.ReplicationControllers(), apps.ReplicaSets(), apps.Deployments(), apps.StatefulSets(), cc.client, cc.mapper, scales,
		cc.client.Discovery())
	return loop{"disruption", func(ctx context.Context) { dc.Run(ctx, workers) }}, nil
}

func (cc *controllerContext) horizontalPodAutoscaler(ctx context.Context) (loop, error) {
	l := loop{name: "horizontalpodautoscaler"}
	scales, err := cc.scaleClient()
	if err != nil {
		return l, err
	}
	resources, err := resourceclient.NewForConfig(cc.config)
	if err != nil {
		return l, err
	}
	external, err := external_metrics.NewForConfig(cc.config)
	if err != nil {
		return l, err
	}
	apis := custom_metrics.NewAvailableAPIsGetter(cc.client.Discovery())
	custom := custom_metrics.NewForConfig(cc.config, cc.mapper, apis)
	const (
		sync          = 15 * time.Second
		stabilisation = 5 * time.Minute
		tolerance     = 0.1
		cpuInit       = 5 * time.Minute
		readyDelay    = 30 * time.Second
	) // kube-controller-manager's own defaults
	hpa := podautoscaler.NewHorizontalController(ctx, cc.client.CoreV1(), scales, cc.client.AutoscalingV2(), cc.mapper,
		metrics.NewRESTMetricsClient(resources, custom, external), cc.shared.Autoscaling().V2().HorizontalPodAutoscalers(),
		cc.shared.Core().V1().Pods(), sync, stabilisation, tolerance, cpuInit, readyDelay)
	l.run = func(ctx context.Context) {
		go custom_metrics.PeriodicallyInvalidate(apis, sync, ctx.Done())
		hpa.Run(ctx, workers)
	}
	return l, nil
}
