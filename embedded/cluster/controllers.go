// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/controller-manager/pkg/informerfactory"
)

// resync is how often shared informers hand out everything again, a safety net of the built-in controllers.
const resync = 12 * time.Hour

// workers is the concurrency of each built-in controller. One machine's worth of objects needs few.
const workers = 4

// loop is a built-in controller that is set up; run blocks until ctx is done.
type loop struct {
	name string
	run  func(ctx context.Context)
}

// controllerContext is what the constructors of built-in controllers share.
type controllerContext struct {
	config   *rest.Config
	client   kubernetes.Interface
	metadata metadata.Interface
	shared   informers.SharedInformerFactory
	// all gives informers for any resource, typed where the shared factory has them and metadata-only elsewhere.
	all     informerfactory.InformerFactory
	mapper  *restmapper.DeferredDiscoveryRESTMapper
	started chan struct{} // closed when the informers of all constructors are started
	pki     certificates
}

func (c *Cluster) controllerContext() (*controllerContext, error) {
	cfg := c.configOf(c.pki.controllers)
	cfg.UserAgent = "weir-controllers"
	metadataClient, err := metadata.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("metadata client: %w", err)
	}
	typed := rest.CopyConfig(cfg)
	typed.ContentType = "application/vnd.kubernetes.protobuf"
	client, err := kubernetes.NewForConfig(typed)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	shared := informers.NewSharedInformerFactoryWithOptions(client, resync, informers.WithTransform(dropManagedFields))
	meta := metadatainformer.NewSharedInformerFactoryWithOptions(metadataClient, resync,
		metadatainformer.WithTransform(dropManagedFields))
	return &controllerContext{
		config:   cfg,
		client:   client,
		metadata: metadataClient,
		shared:   shared,
		all:      informerfactory.NewInformerFactory(shared, meta),
		mapper:   restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery())),
		started:  make(chan struct{}),
		pki:      c.pki,
	}, nil
}

// dropManagedFields keeps what no built-in controller reads out of the caches.
func dropManagedFields(obj any) (any, error) {
	if o, err := meta.Accessor(obj); err == nil {
		o.SetManagedFields(nil)
	}
	return obj, nil
}

// runControllers waits for the API server, then runs the built-in controllers and the scheduler until ctx is done.
func (c *Cluster) runControllers(ctx context.Context) error {
	cc, err := c.controllerContext()
	if err != nil {
		return err
	}
	if err := cc.waitForAPI(ctx); err != nil {
		return err
	}
	loops, err := cc.build(ctx)
	if err != nil {
		return err
	}
	sched, err := cc.scheduler(ctx)
	if err != nil {
		return err
	}
	cc.all.Start(ctx.Done())
	close(cc.started)
	done := make(chan struct{})
	for _, l := range append(loops, sched) {
		go func() {
			defer func() { done <- struct{}{} }()
			l.run(ctx)
		}()
	}
	if err := cc.waitForDefaults(ctx); err == nil {
		close(c.ready)
	}
	for range len(loops) + 1 {
		<-done
	}
	cc.shared.Shutdown()
	return ctx.Err()
}

// build constructs every controller that the embedded cluster has.
func (cc *controllerContext) build(ctx context.Context) ([]loop, error) {
	constructors := []func(context.Context) (loop, error){
		cc.deployment, cc.replicaSet, cc.statefulSet, cc.daemonSet, cc.job, cc.cronJob,
		cc.endpointSlice, cc.disruption, cc.horizontalPodAutoscaler,
		cc.namespace, cc.garbageCollector, cc.podGC, cc.resourceQuota,
		cc.serviceAccount, cc.token, cc.rootCA, cc.clusterRoleAggregation,
		cc.refreshMapper,
	}
	var loops []loop
	for _, construct := range constructors {
		l, err := construct(ctx)
		if err != nil {
			return nil, fmt.Errorf("built-in controller %s: %w", l.name, err)
		}
		loops = append(loops, l)
	}
	return loops, nil
}

// refreshMapper lets controllers that meet any kind see custom resources that were defined after the start.
func (cc *controllerContext) refreshMapper(context.Context) (loop, error) {
	return loop{"rest-mapper", func(ctx context.Context) {
		tick := time.NewTicker(30 * time.Second)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				cc.mapper.Reset()
			}
		}
	}}, nil
}
