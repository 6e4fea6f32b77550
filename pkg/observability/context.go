// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package observability says what the metrics and traces of a process are
// recorded with: the providers in its contexts, never global ones, so that two
// sets of controllers in one process keep theirs apart. It knows OpenTelemetry's
// interfaces only; package export makes providers as config-observability says.
package observability

import (
	"context"

	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
)

type (
	meterKey  struct{}
	tracerKey struct{}
)

// WithMeterProvider returns a context whose users record metrics with p.
func WithMeterProvider(ctx context.Context, p metric.MeterProvider) context.Context {
	return context.WithValue(ctx, meterKey{}, p)
}

// GetMeterProvider returns the provider of ctx, else one that drops everything.
func GetMeterProvider(ctx context.Context) metric.MeterProvider {
	if p, ok := ctx.Value(meterKey{}).(metric.MeterProvider); ok {
		return p
	}
	return metricnoop.NewMeterProvider()
}

// WithTracerProvider returns a context whose users record traces with p.
func WithTracerProvider(ctx context.Context, p trace.TracerProvider) context.Context {
	return context.WithValue(ctx, tracerKey{}, p)
}

// GetTracerProvider returns the provider of ctx, else one that drops everything.
func GetTracerProvider(ctx context.Context) trace.TracerProvider {
	if p, ok := ctx.Value(tracerKey{}).(trace.TracerProvider); ok {
		return p
	}
	return tracenoop.NewTracerProvider()
}
