// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package integration tests the API against the embedded API server: a weir process without node and gateway.
package integration

import (
	"context"
	"flag"
	"os"
	"testing"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"weir.dev/test/harness"
)

// client talks to the API server under test, at config; both are set once by TestMain.
var (
	client dynamic.Interface
	config *rest.Config
)

func TestMain(m *testing.M) {
	suite := harness.Suite{
		Args: []string{"--parts", "network,cluster,controller"},
		SetUp: func(_ context.Context, s *harness.System) (err error) {
			config = s.Config
			client, err = dynamic.NewForConfig(config)
			return err
		},
	}
	suite.Flags(flag.CommandLine)
	flag.Parse()
	os.Exit(suite.Main(m))
}
