// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package export

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"

	"weir.dev/pkg/observability"
)

func (p *Providers) meter(ctx context.Context, cfg observability.Metrics, res *resource.Resource, views []sdkmetric.View) error {
	options := []sdkmetric.Option{sdkmetric.WithResource(res), sdkmetric.WithView(views...)}
	switch cfg.Protocol {
	case observability.ProtocolNone:
	case observability.ProtocolPrometheus:
		registry := prometheus.NewRegistry()
		reader, err := otelprometheus.New(otelprometheus.WithRegisterer(registry))
		if err != nil {
			return fmt.Errorf("making the Prometheus exporter: %w", err)
		}
		options = append(options, sdkmetric.WithReader(reader))
		if p.scraped, err = serve(registry); err != nil {
			return err
		}
	default:
		exporter, err := newMetricExporter(ctx, cfg)
		if err != nil {
			return fmt.Errorf("making the exporter of metrics: %w", err)
		}
		options = append(options, sdkmetric.WithReader(sdkmetric.NewPeriodicReader(exporter, interval(cfg)...)))
	}
	p.Meter = sdkmetric.NewMeterProvider(options...)
	return nil
}

// interval leaves the interval to the environment where that has one.
func interval(cfg observability.Metrics) []sdkmetric.PeriodicReaderOption {
	if cfg.ExportInterval == 0 || os.Getenv("OTEL_METRIC_EXPORT_INTERVAL") != "" {
		return nil
	}
	return []sdkmetric.PeriodicReaderOption{sdkmetric.WithInterval(cfg.ExportInterval)}
}

func newMetricExporter(ctx context.Context, cfg observability.Metrics) (sdkmetric.Exporter, error) {
	fromEnv := observability.EndpointInEnvironment("metrics")
	switch {
	case cfg.Protocol == observability.ProtocolGRPC && fromEnv:
		return otlpmetricgrpc.New(ctx)
	case cfg.Protocol == observability.ProtocolGRPC && isURL(cfg.Endpoint):
		return otlpmetricgrpc.New(ctx, otlpmetricgrpc.WithEndpointURL(cfg.Endpoint))
	case cfg.Protocol == observability.ProtocolGRPC:
		return otlpmetricgrpc.New(ctx, otlpmetricgrpc.WithEndpoint(cfg.Endpoint), otlpmetricgrpc.WithInsecure())
	case fromEnv:
		return otlpmetrichttp.New(ctx)
	case !isURL(cfg.Endpoint):
		return nil, fmt.Errorf("metrics-endpoint: %s needs a URL, got %q", observability.ProtocolHTTP, cfg.Endpoint)
	}
	return otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(cfg.Endpoint))
}

func isURL(endpoint string) bool { return strings.Contains(endpoint, "://") }
