// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package export makes the providers that send the metrics and traces of a
// process to where config-observability says. Only main functions need it:
// what records takes its provider from the context (package observability).
package export

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/contrib/instrumentation/runtime"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.37.0"

	"weir.dev/pkg/observability"
)

// Providers record what a process does and send it away.
type Providers struct {
	Meter  *sdkmetric.MeterProvider
	Tracer *sdktrace.TracerProvider

	scraped *server // nil unless metrics are scraped
}

// New makes providers for a component, an OpenTelemetry service name. Metrics
// that are to be scraped are served from now on. The variables of the
// OpenTelemetry standard count more than cfg.
func New(ctx context.Context, component string, cfg *observability.Config, views ...sdkmetric.View) (*Providers, error) {
	res, err := resource.New(ctx,
		resource.WithAttributes(semconv.ServiceName(component)),
		resource.WithTelemetrySDK(),
		resource.WithFromEnv(),
	)
	if err != nil {
		return nil, fmt.Errorf("describing the process for its telemetry: %w", err)
	}
	p := &Providers{}
	if p.Tracer, err = newTracerProvider(ctx, cfg.Tracing, res); err != nil {
		return nil, err
	}
	if err := p.meter(ctx, cfg.Metrics, res, views); err != nil {
		return nil, errors.Join(err, p.Shutdown(ctx))
	}
	if cfg.Metrics.Protocol != observability.ProtocolNone {
		err = runtime.Start(runtime.WithMeterProvider(p.Meter), runtime.WithMinimumReadMemStatsInterval(cfg.Runtime.ExportInterval))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("recording metrics of the Go runtime: %w", err), p.Shutdown(ctx))
	}
	return p, nil
}

// Context returns a context whose users record with the providers.
func (p *Providers) Context(ctx context.Context) context.Context {
	return observability.WithTracerProvider(observability.WithMeterProvider(ctx, p.Meter), p.Tracer)
}

// Shutdown sends what is left, within ctx, and ends the providers.
func (p *Providers) Shutdown(ctx context.Context) error {
	var errs []error
	if p.Tracer != nil {
		errs = append(errs, p.Tracer.Shutdown(ctx))
	}
	if p.Meter != nil {
		errs = append(errs, p.Meter.Shutdown(ctx))
	}
	if p.scraped != nil {
		errs = append(errs, p.scraped.shutdown(ctx))
	}
	return errors.Join(errs...)
}
