// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package test runs the example as its users would: images, manifests, kubectl
// apply, on a Weir or any other Kubernetes.
package test

import (
	"context"
	"flag"
	"os"
	"testing"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	samples "weir.dev/examples/controller/pkg/client/clientset/versioned"
	"weir.dev/test/harness"
)

// The system under test, set once by TestMain.
var (
	kube   kubernetes.Interface
	client samples.Interface
)

func TestMain(m *testing.M) {
	suite := harness.Suite{SetUp: setUp, Images: map[string]string{
		"weir.local/samples-controller": "../cmd/controller",
		"weir.local/samples-webhook":    "../cmd/webhook",
	}}
	suite.Flags(flag.CommandLine)
	flag.Parse()
	os.Exit(suite.Main(m))
}

func setUp(ctx context.Context, s *harness.System) (err error) {
	if kube, err = kubernetes.NewForConfig(s.Config); err != nil {
		return err
	}
	if client, err = samples.NewForConfig(s.Config); err != nil {
		return err
	}
	d, err := dynamic.NewForConfig(s.Config)
	if err != nil {
		return err
	}
	return install(ctx, d)
}
