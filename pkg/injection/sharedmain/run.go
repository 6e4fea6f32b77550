// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package sharedmain runs controllers: Run in any process, Main in one of
// their own. It knows no kind and no controller.
package sharedmain

import (
	"context"
	"fmt"

	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	kubeclient "weir.dev/pkg/client/injection/kube/client"
	"weir.dev/pkg/configmap/informer"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection"
	"weir.dev/pkg/leaderelection"
	"weir.dev/pkg/logging"
	"weir.dev/pkg/system"
)

// Run makes and runs the controllers of a component until ctx ends, and
// returns once all have ended. It reads no flags and ends no process, and any
// number may run side by side.
//
// The logger is that of ctx, else as the logging ConfigMap says. Leader
// election is on unless ctx is WithHADisabled. The system namespace is
// system.NamespaceOf(ctx).
func Run(ctx context.Context, component string, cfg *rest.Config, ctors ...injection.ControllerConstructor) error {
	cfg = rest.CopyConfig(cfg)
	cfg.WarningHandlerWithContext = &warnings{}
	ctx, informers := injection.Default.SetupInformers(ctx, cfg)
	ctx, level, err := withLogger(ctx, component)
	if err != nil {
		return err
	}
	redirectKlog(ctx)
	kube, err := kubernetes.NewForConfig(injection.GetConfig(ctx))
	if err != nil {
		return fmt.Errorf("making the Kubernetes client: %w", err)
	}
	if err := checkVersion(kube); err != nil {
		return err
	}
	if ctx, err = withLeaderElection(ctx, component, kube); err != nil {
		return err
	}
	cmw, err := newConfigMapWatcher(ctx)
	if err != nil {
		return err
	}
	controllers, err := construct(ctx, cmw, ctors)
	if err != nil {
		return err
	}
	wh, err := newWebhook(ctx, controllers)
	if err != nil {
		return err
	}
	watchLogging(ctx, cmw, component, level)
	watchProfiling(ctx, cmw)
	return parts{cmw: cmw, informers: informers, webhook: wh, controllers: controllers}.run(ctx)
}

func construct(ctx context.Context, cmw *informer.InformedWatcher, ctors []injection.ControllerConstructor) ([]*controller.Impl, error) {
	controllers := make([]*controller.Impl, 0, len(ctors))
	for _, ctor := range ctors {
		impl, err := injection.Construct(ctx, ctor, cmw)
		if err != nil {
			return nil, err
		}
		controllers = append(controllers, impl)
	}
	return controllers, nil
}

func newConfigMapWatcher(ctx context.Context) (*informer.InformedWatcher, error) {
	var requirements []labels.Requirement
	if label := system.ResourceLabel(); label != "" {
		req, err := labels.NewRequirement(label, selection.Exists, nil)
		if err != nil {
			return nil, fmt.Errorf("the resource label: %w", err)
		}
		requirements = append(requirements, *req)
	}
	return informer.NewInformedWatcher(kubeclient.Get(ctx), system.NamespaceOf(ctx), requirements...), nil
}

// withLeaderElection gives leases a client of their own, whose requests end
// before the lease would.
func withLeaderElection(ctx context.Context, component string, kube kubernetes.Interface) (context.Context, error) {
	if IsHADisabled(ctx) {
		return ctx, nil
	}
	config, err := leaderElectionConfig(ctx, kube)
	if err != nil {
		return ctx, err
	}
	rc := rest.CopyConfig(injection.GetConfig(ctx))
	rc.Timeout = config.RenewDeadline
	leases, err := kubernetes.NewForConfig(rc)
	if err != nil {
		return ctx, fmt.Errorf("making the client of leases: %w", err)
	}
	return leaderelection.WithDynamicLeaderElectorBuilder(ctx, leases, config.GetComponentConfig(component)), nil
}

// withLogger returns the level, to be kept up to date, of a logger that it
// made; nil when ctx came with one.
func withLogger(ctx context.Context, component string) (context.Context, *zap.AtomicLevel, error) {
	if logging.HasLogger(ctx) {
		return ctx, nil, nil
	}
	config, err := GetLoggingConfig(ctx)
	if err != nil {
		return ctx, nil, err
	}
	logger, level := logging.NewLoggerFromConfig(config, component)
	return logging.WithLogger(ctx, logger), &level, nil
}
