// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
)

// scope is the instrumentation scope; dashboards know it by this name.
const scope = "knative.dev/pkg/webhook"

// Telemetry is where a server's metrics and traces go. Nil fields mean nowhere;
// without a propagator the trace context of W3C and baggage are read.
type Telemetry struct {
	MeterProvider     metric.MeterProvider
	TracerProvider    trace.TracerProvider
	TextMapPropagator propagation.TextMapPropagator
}

// telemetry are the instruments of a server.
type telemetry struct {
	duration   metric.Float64Histogram
	tracer     trace.Tracer
	propagator propagation.TextMapPropagator
}

func newTelemetry(t Telemetry) (*telemetry, error) {
	if t.MeterProvider == nil {
		t.MeterProvider = metricnoop.NewMeterProvider()
	}
	if t.TracerProvider == nil {
		t.TracerProvider = tracenoop.NewTracerProvider()
	}
	if t.TextMapPropagator == nil {
		t.TextMapPropagator = propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})
	}
	duration, err := t.MeterProvider.Meter(scope).Float64Histogram("kn.webhook.handler.duration",
		metric.WithDescription("The time a webhook takes to answer a request."),
		metric.WithUnit("s"),
		metric.WithExplicitBucketBoundaries(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
	)
	if err != nil {
		return nil, fmt.Errorf("webhook: make the instrument of durations: %w", err)
	}
	return &telemetry{duration: duration, tracer: t.TracerProvider.Tracer(scope), propagator: t.TextMapPropagator}, nil
}

// observe counts an answer.
func (t *telemetry) observe(ctx context.Context, began time.Time, ok bool, attributes ...attribute.KeyValue) {
	status := "failed"
	if ok {
		status = "success"
	}
	attributes = append(attributes, attribute.String("kn.webhook.operation.status", status))
	trace.SpanFromContext(ctx).SetAttributes(attributes...)
	t.duration.Record(ctx, time.Since(began).Seconds(), metric.WithAttributes(attributes...))
}

// traced serves a path within a span, a child of the caller's.
func (t *telemetry) traced(path string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := t.propagator.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		ctx, span := t.tracer.Start(ctx, path, trace.WithSpanKind(trace.SpanKindServer))
		defer span.End()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}
