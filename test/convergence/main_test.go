// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package convergence lets two clients do anything that they like at random while the controller is killed now and then, and
// holds what must be true meanwhile and in the end: hosts are unique at each step, Ready tells the truth at each step, and the
// system comes to rest in the state that the last accepted specs define.
package convergence

import (
	"context"
	"flag"
	"os"
	"testing"
	"time"

	"weir.dev/test/harness"
)

const (
	image = "weir.local/probe"
	// missing is an image that no node can get.
	missing = "weir.local/missing"
)

var (
	suite = harness.Suite{
		Images: map[string]string{image: "../apps/probe"},
		SetUp: func(ctx context.Context, s *harness.System) error {
			return s.SetConfig(ctx, "config-autoscaler", map[string]string{"allow-zero-initial-scale": "true"})
		},
	}
	seed = flag.Uint64("seed", 1, "of what the clients do")
	work = flag.Duration("for", 30*time.Second, "how long they work")
)

func TestMain(m *testing.M) {
	suite.Flags(flag.CommandLine)
	flag.Parse()
	os.Exit(suite.Main(m))
}
