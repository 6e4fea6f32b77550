// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package config reads config-samples and gives each reconcile one consistent
// view of it.
package config

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"

	"weir.dev/pkg/configmap"
	"weir.dev/pkg/network"
)

// Name is the ConfigMap's name.
const Name = "config-samples"

// Config is its content.
type Config struct {
	// Domain is the cluster's domain, the end of Services' host names.
	Domain string
}

// NewConfig parses the ConfigMap.
func NewConfig(cm *corev1.ConfigMap) (*Config, error) {
	cfg := &Config{Domain: network.GetClusterDomainName()}
	if err := configmap.Parse(cm.Data, configmap.AsString("domain", &cfg.Domain)); err != nil {
		return nil, err
	}
	if cfg.Domain == "" {
		return nil, errors.New("domain: must not be empty")
	}
	return cfg, nil
}

// Constructors parse the ConfigMaps of this example.
func Constructors() configmap.Constructors { return configmap.Constructors{Name: NewConfig} }

type configKey struct{}

// FromContext returns the configuration of a reconcile.
func FromContext(ctx context.Context) *Config {
	cfg, _ := ctx.Value(configKey{}).(*Config)
	return cfg
}

// ToContext returns a context with a configuration.
func ToContext(ctx context.Context, cfg *Config) context.Context {
	return context.WithValue(ctx, configKey{}, cfg)
}

// Store keeps the configuration up to date.
type Store struct{ *configmap.UntypedStore }

// NewStore returns a store that calls onChange after every new value.
func NewStore(logger configmap.Logger, onChange ...func(name string, value any)) *Store {
	return &Store{configmap.NewUntypedStore("samples", logger, Constructors(), onChange...)}
}

// ToContext implements reconciler.ConfigStore.
func (s *Store) ToContext(ctx context.Context) context.Context {
	return ToContext(ctx, s.UntypedLoad(Name).(*Config))
}
