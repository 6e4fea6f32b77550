// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"flag"
	"fmt"

	"k8s.io/client-go/rest"

	"weir.dev/pkg/environment"
)

// GetRESTConfig finds the client configuration: of the kubeconfig, else of the
// cluster that the process runs in, else of the default kubeconfig. A server
// address overrides the configured one.
func GetRESTConfig(serverURL, kubeconfig string) (*rest.Config, error) {
	env := environment.ClientConfig{ServerURL: serverURL, Kubeconfig: kubeconfig}
	return env.GetRESTConfig()
}

// ParseAndGetRESTConfigOrDie defines the client flags, parses the command line
// and finds the client configuration. It is for main functions; what goes
// wrong panics.
func ParseAndGetRESTConfigOrDie() *rest.Config {
	env := &environment.ClientConfig{}
	env.InitFlags(flag.CommandLine)
	flag.Parse()
	cfg, err := env.GetRESTConfig()
	if err != nil {
		panic(fmt.Errorf("finding the client configuration: %w", err))
	}
	return cfg
}
