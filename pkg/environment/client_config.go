// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package environment reads how to reach the API server from flags. Only main
// functions use it.
package environment

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// ClientConfig is what the flags say.
type ClientConfig struct {
	// Cluster is the cluster of the kubeconfig to use; empty means the current one.
	Cluster string
	// ServerURL overrides the API server's address.
	ServerURL string
	// Burst and QPS limit requests; 0 means no limit of the client's own.
	Burst int
	QPS   float64
	// Kubeconfig is the path of a kubeconfig; empty means the in-cluster
	// configuration, else the default kubeconfig.
	Kubeconfig string
}

// InitFlags defines the flags.
func (c *ClientConfig) InitFlags(fs *flag.FlagSet) {
	fs.StringVar(&c.Cluster, "cluster", "", "The kubeconfig cluster to use; empty means the current one.")
	fs.StringVar(&c.ServerURL, "server", "", "The address of the Kubernetes API server; overrides the kubeconfig's.")
	fs.StringVar(&c.Kubeconfig, "kubeconfig", os.Getenv("KUBECONFIG"), "Path to a kubeconfig; only needed outside a cluster.")
	fs.IntVar(&c.Burst, "kube-api-burst", int(number("KUBE_API_BURST")), "Burst of requests to the API server; 0 means unlimited.")
	fs.Float64Var(&c.QPS, "kube-api-qps", number("KUBE_API_QPS"), "Requests a second to the API server; 0 means unlimited.")
}

func number(env string) float64 {
	f, err := strconv.ParseFloat(os.Getenv(env), 64)
	if err != nil {
		return 0
	}
	return f
}

// GetRESTConfig finds the client configuration.
func (c *ClientConfig) GetRESTConfig() (*rest.Config, error) {
	cfg, err := c.load()
	if err != nil {
		return nil, err
	}
	cfg.QPS, cfg.Burst = float32(c.QPS), c.Burst
	if cfg.QPS == 0 {
		cfg.QPS = -1
	} else if cfg.Burst == 0 {
		cfg.Burst = max(1, int(2*cfg.QPS))
	}
	return cfg, nil
}

func (c *ClientConfig) load() (*rest.Config, error) {
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: c.Kubeconfig}
	if c.Kubeconfig == "" {
		cfg, err := rest.InClusterConfig()
		if err == nil {
			return c.override(cfg), nil
		}
		if !errors.Is(err, rest.ErrNotInCluster) {
			return nil, fmt.Errorf("reading the in-cluster configuration: %w", err)
		}
		rules = clientcmd.NewDefaultClientConfigLoadingRules()
	}
	overrides := &clientcmd.ConfigOverrides{}
	overrides.ClusterInfo.Server = c.ServerURL
	overrides.Context.Cluster = c.Cluster
	cfg, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	return cfg, nil
}

func (c *ClientConfig) override(cfg *rest.Config) *rest.Config {
	if c.ServerURL != "" {
		cfg.Host = c.ServerURL
	}
	return cfg
}
