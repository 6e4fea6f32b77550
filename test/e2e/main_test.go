// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package e2e talks to a running Weir with client-go and HTTP only. Tests that need to kill or restart the process are skipped
// where the system runs elsewhere.
package e2e

import (
	"context"
	"flag"
	"os"
	"testing"

	"weir.dev/test/harness"
)

// probeImage is of the program that the tests deploy.
const probeImage = "weir.local/probe"

// suite is set up once by TestMain.
var suite = harness.Suite{
	Images: map[string]string{probeImage: "../apps/probe"},
	// Zero within seconds instead of a minute and a half.
	SetUp: func(ctx context.Context, s *harness.System) error {
		return s.SetConfig(ctx, "config-autoscaler", map[string]string{"scale-to-zero-grace-period": "1s"})
	},
}

func TestMain(m *testing.M) {
	suite.Flags(flag.CommandLine)
	flag.Parse()
	os.Exit(suite.Main(m))
}
