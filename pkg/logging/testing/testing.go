// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package testing gives tests a logger that writes to the test's own output.
package testing

import (
	"context"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest"

	"weir.dev/pkg/logging"
)

// TestLogger returns a logger that writes to t. Goroutines of the test must
// have ended when t has, as for t.Log.
func TestLogger(t zaptest.TestingT) *zap.SugaredLogger {
	return zaptest.NewLogger(t, zaptest.Level(zapcore.DebugLevel), zaptest.WrapOptions(zap.AddCaller())).Sugar()
}

// TestContextWithLogger returns a context with the TestLogger of t. It ends
// with the test.
func TestContextWithLogger(t testing.TB) context.Context {
	return logging.WithLogger(t.Context(), TestLogger(t))
}
