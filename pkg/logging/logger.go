// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package logging carries the structured logger in the context and builds it
// from the ConfigMap config-logging. It knows nothing of controllers; every
// package of the kit and everything written on it may import it.
package logging

import (
	"context"

	"go.uber.org/zap"
)

type loggerKey struct{}

// WithLogger returns a context whose FromContext is logger.
func WithLogger(ctx context.Context, logger *zap.SugaredLogger) context.Context {
	return context.WithValue(ctx, loggerKey{}, logger)
}

// FromContext returns the logger of ctx. Without one it is a logger that
// discards everything: a library that was handed no logger has nothing to say.
func FromContext(ctx context.Context) *zap.SugaredLogger {
	if logger, ok := ctx.Value(loggerKey{}).(*zap.SugaredLogger); ok {
		return logger
	}
	return zap.NewNop().Sugar()
}

// HasLogger tells whether ctx has a logger.
func HasLogger(ctx context.Context) bool {
	_, ok := ctx.Value(loggerKey{}).(*zap.SugaredLogger)
	return ok
}

// With returns a context whose logger carries the given key-value pairs.
func With(ctx context.Context, keysAndValues ...any) context.Context {
	return WithLogger(ctx, FromContext(ctx).With(keysAndValues...))
}
