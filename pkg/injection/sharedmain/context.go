// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package sharedmain

import "context"

type (
	haDisabledKey     struct{}
	probesDisabledKey struct{}
)

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
