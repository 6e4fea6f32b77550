// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package sharedmain

import (
	"context"

	"go.uber.org/zap"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	kubeclient "weir.dev/pkg/client/injection/kube/client"
	"weir.dev/pkg/configmap"
	"weir.dev/pkg/configmap/informer"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection"
	"weir.dev/pkg/logging"
	"weir.dev/pkg/observability/export"
	"weir.dev/pkg/profiling"
	"weir.dev/pkg/version"
)

// The steps of a start, for mains that need something between them. Those that
// end in OrDie end the process with status 1 when they fail; Run is made of the
// same steps and returns errors.

// EnableInjectionOrDie is injection.EnableInjectionOrDie.
func EnableInjectionOrDie(ctx context.Context, cfg *rest.Config) (context.Context, func()) {
	return injection.EnableInjectionOrDie(ctx, cfg)
}

// SetupLoggerOrDie makes the component's logger as the logging ConfigMap says.
func SetupLoggerOrDie(ctx context.Context, component string) (*zap.SugaredLogger, zap.AtomicLevel) {
	config, err := GetLoggingConfig(ctx)
	exitOn("logging configuration", err)
	return logging.NewLoggerFromConfig(config, component)
}

// CheckK8sClientMinimumVersionOrDie asks the API server for its version.
func CheckK8sClientMinimumVersionOrDie(ctx context.Context, logger *zap.SugaredLogger) {
	if err := checkVersion(kubeclient.Get(ctx)); err != nil {
		logger.Fatalw("The API server is too old", zap.Error(err))
	}
}

func checkVersion(kube kubernetes.Interface) error {
	return version.CheckMinimumVersion(kube.Discovery())
}

// SetupConfigMapWatchOrDie makes the watcher of the system namespace's
// ConfigMaps. It is not started.
func SetupConfigMapWatchOrDie(ctx context.Context, logger *zap.SugaredLogger) *informer.InformedWatcher {
	cmw, err := newConfigMapWatcher(ctx)
	if err != nil {
		logger.Fatalw("ConfigMaps cannot be watched", zap.Error(err))
	}
	return cmw
}

// WatchLoggingConfigOrDie keeps the level of the logger at what the logging
// ConfigMap says; without one it is the default.
func WatchLoggingConfigOrDie(ctx context.Context, cmw configmap.DefaultingWatcher, logger *zap.SugaredLogger, level zap.AtomicLevel, component string) {
	watchLogging(logging.WithLogger(ctx, logger), cmw, component, &level)
}

// SetupObservabilityOrDie makes the providers of metrics and traces as the
// ConfigMap says. Their Context is what the controllers are to run with; their
// Shutdown, at the end, sends what is left.
func SetupObservabilityOrDie(ctx context.Context, component string, logger *zap.SugaredLogger) *export.Providers {
	config, err := GetObservabilityConfig(ctx)
	if err != nil {
		logger.Fatalw("The observability configuration cannot be read", zap.Error(err))
	}
	providers, err := export.New(ctx, component, config, otelViews(ctx)...)
	if err != nil {
		logger.Fatalw("Metrics and traces cannot be exported", zap.Error(err))
	}
	return providers
}

// WatchObservabilityConfigOrDie turns profiles on and off as the ConfigMap
// says; without one they are off.
func WatchObservabilityConfigOrDie(ctx context.Context, cmw configmap.DefaultingWatcher, profiles *profiling.Handler) {
	watchProfiling(withProfiles(ctx, profiles), cmw)
}

// ControllersAndWebhooksFromCtors constructs the controllers. The webhooks are
// those of their reconcilers that are some: what webhook.New takes. It panics
// with what a constructor asked for in vain.
func ControllersAndWebhooksFromCtors(ctx context.Context, cmw *informer.InformedWatcher, ctors ...injection.ControllerConstructor) ([]*controller.Impl, []any) {
	controllers, err := construct(ctx, cmw, ctors)
	if err != nil {
		panic(err)
	}
	return controllers, webhooksOf(controllers)
}
