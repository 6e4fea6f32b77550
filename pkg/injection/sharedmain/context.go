// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package sharedmain

import (
	"context"
	"slices"

	"go.opentelemetry.io/otel/sdk/metric"

	"weir.dev/pkg/profiling"
)

type (
	haDisabledKey     struct{}
	probesDisabledKey struct{}
	viewsKey          struct{}
	profilesKey       struct{}
)

// WithOTelViews returns a context whose main functions record metrics through
// these views besides those of contexts around it.
func WithOTelViews(ctx context.Context, views ...metric.View) context.Context {
	return context.WithValue(ctx, viewsKey{}, append(otelViews(ctx), views...))
}

func otelViews(ctx context.Context) []metric.View {
	views, _ := ctx.Value(viewsKey{}).([]metric.View)
	return slices.Clip(views)
}

// withProfiles returns a context whose component turns profiles on and off.
func withProfiles(ctx context.Context, h *profiling.Handler) context.Context {
	return context.WithValue(ctx, profilesKey{}, h)
}

func profilesOf(ctx context.Context) *profiling.Handler {
	h, _ := ctx.Value(profilesKey{}).(*profiling.Handler)
	return h
}

// WithHADisabled returns a context without leader election: the process leads
// everything.
func WithHADisabled(ctx context.Context) context.Context {
	return context.WithValue(ctx, haDisabledKey{}, true)
}

// IsHADisabled tells whether ctx is without leader election.
func IsHADisabled(ctx context.Context) bool { return ctx.Value(haDisabledKey{}) != nil }

// WithHealthProbesDisabled returns a context whose main functions serve no
// health probes.
func WithHealthProbesDisabled(ctx context.Context) context.Context {
	return context.WithValue(ctx, probesDisabledKey{}, true)
}

func probesDisabled(ctx context.Context) bool { return ctx.Value(probesDisabledKey{}) != nil }
