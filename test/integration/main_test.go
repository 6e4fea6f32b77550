// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package integration tests the API against the embedded API server: a weir process without node and gateway.
package integration

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/dynamic"

	"weir.dev/test/harness"
)

var binary = flag.String("weir", "", "the weir binary to start")

// client talks to the API server under test, set once by TestMain.
var client dynamic.Interface

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "integration:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	if *binary == "" {
		return 0, fmt.Errorf("give -weir")
	}
	dir, err := os.MkdirTemp("", "weir-integration-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	w, err := harness.Start(*binary, filepath.Join(dir, "data"), os.Stderr, "--parts", "network,cluster,controller",
		"--listen", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	if err := w.WaitReady(ctx); err != nil {
		return 0, err
	}
	s, err := harness.Connect(w.Kubeconfig(), "")
	if err != nil {
		return 0, err
	}
	if client, err = dynamic.NewForConfig(s.Config); err != nil {
		return 0, err
	}
	code := m.Run()
	stop, cancelStop := context.WithTimeout(context.Background(), time.Minute)
	defer cancelStop()
	return code, w.Stop(stop)
}
