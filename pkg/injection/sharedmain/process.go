// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package sharedmain

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-logr/zapr"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"weir.dev/pkg/environment"
	"weir.dev/pkg/injection"
	"weir.dev/pkg/logging"
	"weir.dev/pkg/observability"
	"weir.dev/pkg/observability/export"
	"weir.dev/pkg/profiling"
)

// flushTimeout bounds how long the end waits for a collector.
const flushTimeout = 10 * time.Second

// runProcess is Run for a component that has the process to itself: it serves
// health probes and profiles besides, and sends metrics and traces as
// config-observability says.
func runProcess(ctx context.Context, component string, cfg *rest.Config, ctors []injection.ControllerConstructor) error {
	kube, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return fmt.Errorf("making the Kubernetes client: %w", err)
	}
	config, err := observabilityConfig(ctx, kube)
	if err != nil {
		return err
	}
	providers, err := export.New(ctx, component, config, otelViews(ctx)...)
	if err != nil {
		return err
	}
	defer flush(ctx, providers)
	profiles := profiling.NewHandler(logging.FromContext(ctx), config.Runtime.Profiling)
	ctx = injection.WithStart(withProfiles(providers.Context(ctx), profiles))
	return serveAll(ctx, component, instrumented(ctx, cfg), profiles, ctors)
}

// serveAll ends all parts when one ends.
func serveAll(ctx context.Context, component string, cfg *rest.Config, profiles *profiling.Handler, ctors []injection.ControllerConstructor) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var g errgroup.Group
	part := func(run func() error) {
		g.Go(func() error {
			defer cancel()
			return run()
		})
	}
	part(func() error { return Run(ctx, component, cfg, ctors...) })
	part(func() error { return serveProfiles(ctx, profiles) })
	if !probesDisabled(ctx) {
		part(func() error { return serveProbes(ctx) })
	}
	return g.Wait()
}

// probesPortEnvKey is the environment variable of the port of health probes.
const probesPortEnvKey = "HEALTH_PROBES_PORT"

func serveProbes(ctx context.Context) error {
	port, err := environment.Port(probesPortEnvKey, injection.HealthCheckDefaultPort)
	if err != nil {
		return err
	}
	return injection.ServeHealthProbes(ctx, port)
}

func serveProfiles(ctx context.Context, profiles *profiling.Handler) error {
	server := profiling.NewServer(profiles)
	stopped := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stopped()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving profiles: %w", err)
	}
	return nil
}

// instrumented returns a configuration whose clients record their requests
// with the providers of ctx.
func instrumented(ctx context.Context, cfg *rest.Config) *rest.Config {
	cfg = rest.CopyConfig(cfg)
	cfg.Wrap(func(rt http.RoundTripper) http.RoundTripper {
		return otelhttp.NewTransport(rt,
			otelhttp.WithMeterProvider(observability.GetMeterProvider(ctx)),
			otelhttp.WithTracerProvider(observability.GetTracerProvider(ctx)))
	})
	return cfg
}

// redirectKlog logs what Kubernetes' libraries log, which know one logger a
// process, like the rest. Only who has the process to itself may do that: who
// serves its profiles.
func redirectKlog(ctx context.Context) {
	if profilesOf(ctx) != nil {
		klog.SetLogger(zapr.NewLogger(logging.FromContext(ctx).Desugar()))
	}
}

// flush sends what is left although ctx has ended. A collector that does not
// answer is no failure of the component.
func flush(ctx context.Context, providers *export.Providers) {
	flushing, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
	defer cancel()
	if err := providers.Shutdown(flushing); err != nil {
		logging.FromContext(ctx).Warnw("Some metrics or traces did not reach their collector", "error", err)
	}
}
