// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/events"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/profile"
)

// scheduler sets up kube-scheduler with its default profile. It has an informer factory of its own, since it leaves
// finished pods out of its cache.
func (cc *controllerContext) scheduler(ctx context.Context) (loop, error) {
	l := loop{name: "scheduler"}
	dynamicClient, err := dynamic.NewForConfig(cc.config)
	if err != nil {
		return l, fmt.Errorf("scheduler: %w", err)
	}
	factory := scheduler.NewInformerFactory(cc.client, resync, nil)
	dynamicFactory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(dynamicClient, resync, "", nil)
	broadcaster := events.NewEventBroadcasterAdapterWithContext(ctx, cc.client)
	recorders := profile.RecorderFactory(func(name string) events.EventRecorderLogger {
		return broadcaster.NewRecorder(name)
	})
	sched, err := scheduler.New(ctx, cc.client, factory, dynamicFactory, recorders,
		scheduler.WithKubeConfig(cc.config), scheduler.WithParallelism(workers))
	if err != nil {
		return l, fmt.Errorf("scheduler: %w", err)
	}
	l.run = func(ctx context.Context) {
		defer broadcaster.Shutdown()
		broadcaster.StartRecordingToSink(ctx.Done())
		factory.Start(ctx.Done())
		dynamicFactory.Start(ctx.Done())
		factory.WaitForCacheSync(ctx.Done())
		dynamicFactory.WaitForCacheSync(ctx.Done())
		if sched.WaitForHandlersSync(ctx) == nil {
			sched.Run(ctx)
		}
		factory.Shutdown()
		dynamicFactory.Shutdown()
	}
	return l, nil
}
