// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package failures proves what the controller kit does when things go wrong,
// on the embedded API server: it is killed, its watches end, others write the
// same objects, a reconciler panics, a leader dies. Every test runs real
// controllers in a namespace of its own.
package failures

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"

	"weir.dev/test/harness"
)

// suite has the API server that most tests share, set up once by TestMain.
var suite = harness.Suite{
	Args:  []string{"--parts", "network,cluster"},
	SetUp: func(ctx context.Context, s *harness.System) error { return installThings(ctx, s.Config) },
}

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		os.Exit(childMain(os.Stderr))
	}
	suite.Flags(flag.CommandLine)
	flag.Parse()
	os.Exit(suite.Main(m))
}

// await is harness.Eventually for tests.
func await(ctx context.Context, t *testing.T, what string, done func(context.Context) (bool, error)) {
	t.Helper()
	err := harness.Eventually(ctx, what, func(ctx context.Context) (bool, error) {
		ok, err := done(ctx)
		if ok {
			return true, nil
		}
		return false, err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// each calls f with the names of count things.
func each(t *testing.T, count int, f func(name string) error) {
	t.Helper()
	for i := range count {
		if err := f(fmt.Sprintf("thing-%d", i)); err != nil {
			t.Fatal(err)
		}
	}
}
