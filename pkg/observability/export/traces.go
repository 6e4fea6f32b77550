// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package export

import (
	"context"
	"fmt"
	"os"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"weir.dev/pkg/observability"
)

// newTracerProvider follows the sampling decision of callers, and decides by
// the configured rate for traces that begin here.
func newTracerProvider(ctx context.Context, cfg observability.Tracing, res *resource.Resource) (*sdktrace.TracerProvider, error) {
	options := []sdktrace.TracerProviderOption{sdktrace.WithResource(res)}
	if os.Getenv("OTEL_TRACES_SAMPLER") == "" {
		options = append(options, sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(cfg.SamplingRate))))
	}
	if cfg.Protocol != observability.ProtocolNone {
		exporter, err := newSpanExporter(ctx, cfg)
		if err != nil {
			return nil, fmt.Errorf("making the exporter of traces: %w", err)
		}
		options = append(options, sdktrace.WithBatcher(exporter))
	}
	return sdktrace.NewTracerProvider(options...), nil
}

func newSpanExporter(ctx context.Context, cfg observability.Tracing) (sdktrace.SpanExporter, error) {
	fromEnv := observability.EndpointInEnvironment("tracing")
	switch {
	case cfg.Protocol == observability.ProtocolStdout:
		return stdouttrace.New()
	case cfg.Protocol == observability.ProtocolGRPC && fromEnv:
		return otlptracegrpc.New(ctx)
	case cfg.Protocol == observability.ProtocolGRPC && isURL(cfg.Endpoint):
		return otlptracegrpc.New(ctx, otlptracegrpc.WithEndpointURL(cfg.Endpoint))
	case cfg.Protocol == observability.ProtocolGRPC:
		return otlptracegrpc.New(ctx, otlptracegrpc.WithEndpoint(cfg.Endpoint), otlptracegrpc.WithInsecure())
	case fromEnv:
		return otlptracehttp.New(ctx)
	case !isURL(cfg.Endpoint):
		return nil, fmt.Errorf("tracing-endpoint: %s needs a URL, got %q", observability.ProtocolHTTP, cfg.Endpoint)
	}
	return otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(cfg.Endpoint))
}
