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

// suite is the system under test; client talks to its API server, at config. All are set once, by TestMain.
var (
	suite  harness.Suite
	client dynamic.Interface
	config *rest.Config
)

func TestMain(m *testing.M) {
	suite = harness.Suite{
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
