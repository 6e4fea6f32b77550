// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/quota/v1/generic"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/certificates/rootcacertpublisher"
	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/podgc"
	"k8s.io/kubernetes/pkg/controller/resourcequota"
	"k8s.io/kubernetes/pkg/controller/serviceaccount"
	quotainstall "k8s.io/kubernetes/pkg/quota/v1/install"
	tokens "k8s.io/kubernetes/pkg/serviceaccount"
)

const (
	// discoverySync is how often controllers of all kinds look for kinds that came or went.
	discoverySync = 30 * time.Second
	// settling is the first time of a cluster, when its own kinds are defined, and settlingSync how often the garbage collector
	// looks then. Until it has seen a kind, deleting an owner of that kind leaves what it owns: a person who deletes the first
	// Service right after the first start should not have to wait for that.
	settling, settlingSync = time.Minute, 3 * time.Second
)

func (cc *controllerContext) namespace(ctx context.Context) (loop, error) {
	nc := namespace.NewNamespaceController(ctx, cc.client, cc.metadata, cc.client.Discovery().ServerPreferredNamespacedResources,
		cc.shared.Core().V1().Namespaces(), 5*time.Minute, v1.FinalizerKubernetes)
	return loop{"namespace", func(ctx context.Context) { nc.Run(ctx, workers) }}, nil
}

func (cc *controllerContext) garbageCollector(ctx context.Context) (loop, error) {
	graph := garbagecollector.NewDependencyGraphBuilder(ctx, cc.metadata, cc.mapper,
		garbagecollector.DefaultIgnoredResources(), cc.all, cc.started)
	gc, err := garbagecollector.NewComposedGarbageCollector(ctx, cc.client, cc.metadata, cc.mapper, graph)
	return loop{"garbagecollector", func(ctx context.Context) {
		together(ctx,
			func(ctx context.Context) { gc.Run(ctx, workers, discoverySync) },
			func(ctx context.Context) {
				first, cancel := context.WithTimeout(ctx, settling)
				gc.Sync(first, cc.client.Discovery(), settlingSync)
				cancel()
				gc.Sync(ctx, cc.client.Discovery(), discoverySync)
			},
		)
	}}, err
}

func (cc *controllerContext) podGC(ctx context.Context) (loop, error) {
	const keepTerminated = 1000
	gc := podgc.NewPodGC(ctx, cc.client, cc.shared.Core().V1().Pods(), cc.shared.Core().V1().Nodes(), keepTerminated)
	return loop{"podgc", gc.Run}, nil
}

func (cc *controllerContext) resourceQuota(ctx context.Context) (loop, error) {
	l := loop{name: "resourcequota"}
	quotas, err := quotainstall.NewQuotaConfigurationForControllers(
		generic.ListerFuncForResourceFunc(cc.shared.ForResource), cc.shared)
	if err != nil {
		return l, err
	}
	discover := cc.client.Discovery().ServerPreferredNamespacedResources
	rq, err := resourcequota.NewController(ctx, &resourcequota.ControllerOptions{
		QuotaClient:               cc.client.CoreV1(),
		ResourceQuotaInformer:     cc.shared.Core().V1().ResourceQuotas(),
		ResyncPeriod:              controller.StaticResyncPeriodFunc(5 * time.Minute),
		InformerFactory:           cc.all,
		ReplenishmentResyncPeriod: controller.StaticResyncPeriodFunc(resync),
		DiscoveryFunc:             discover,
		IgnoredResourcesFunc:      quotas.IgnoredResources,
		InformersStarted:          cc.started,
		Registry:                  generic.NewRegistry(quotas.Evaluators()),
		UpdateFilter:              quotainstall.DefaultUpdateFilter(),
	})
	l.run = func(ctx context.Context) {
		together(ctx,
			func(ctx context.Context) { rq.Run(ctx, workers) },
			func(ctx context.Context) { rq.Sync(ctx, discover, discoverySync) },
		)
	}
	return l, err
}

func (cc *controllerContext) serviceAccount(ctx context.Context) (loop, error) {
	core := cc.shared.Core().V1()
	sa, err := serviceaccount.NewServiceAccountsController(klog.FromContext(ctx), core.ServiceAccounts(), core.Namespaces(),
		cc.client, serviceaccount.DefaultServiceAccountsControllerOptions())
	return loop{"serviceaccount", func(ctx context.Context) { sa.Run(ctx, 1) }}, err
}

func (cc *controllerContext) token(ctx context.Context) (loop, error) {
	l := loop{name: "serviceaccount-token"}
	key, err := keyutil.ParsePrivateKeyPEM(cc.pki.serviceAccount.Key)
	if err != nil {
		return l, err
	}
	generator, err := tokens.JWTTokenGenerator(tokens.LegacyIssuer, key)
	if err != nil {
		return l, err
	}
	core := cc.shared.Core().V1()
	tc, err := serviceaccount.NewTokensController(klog.FromContext(ctx), core.ServiceAccounts(), core.Secrets(), cc.client,
		serviceaccount.TokensControllerOptions{TokenGenerator: generator, RootCA: cc.pki.authority.CA.Cert})
	l.run = func(ctx context.Context) { tc.Run(ctx, workers) }
	return l, err
}

func (cc *controllerContext) rootCA(context.Context) (loop, error) {
	core := cc.shared.Core().V1()
	p, err := rootcacertpublisher.NewPublisher(core.ConfigMaps(), core.Namespaces(), cc.client, cc.pki.authority.CA.Cert)
	return loop{"root-ca-publisher", func(ctx context.Context) { p.Run(ctx, 1) }}, err
}

func (cc *controllerContext) clusterRoleAggregation(context.Context) (loop, error) {
	cr := clusterroleaggregation.NewClusterRoleAggregation(cc.shared.Rbac().V1().ClusterRoles(), cc.client.RbacV1())
	return loop{"clusterrole-aggregation", func(ctx context.Context) { cr.Run(ctx, 1) }}, nil
}

// together runs all functions and returns when all have.
func together(ctx context.Context, fns ...func(context.Context)) {
	var wg sync.WaitGroup
	for _, fn := range fns {
		wg.Go(func() { fn(ctx) })
	}
	wg.Wait()
}
