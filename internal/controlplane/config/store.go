// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	apiconfig "weir.dev/api/config"
	"weir.dev/pkg/configmap"
	"weir.dev/pkg/logging"
)

// Names of the ConfigMaps. The last two are read by processes themselves (package sharedmain), the others by a Store.
const (
	DomainName         = "config-domain"
	DeploymentName     = "config-deployment"
	GCName             = "config-gc"
	ObservabilityName  = "config-observability"
	LoggingName        = "config-logging"
	LeaderElectionName = "config-leader-election"

	DefaultsName   = apiconfig.DefaultsName
	FeaturesName   = apiconfig.FeaturesName
	AutoscalerName = apiconfig.AutoscalerName
	NetworkName    = apiconfig.NetworkName
)

// Config is what one reconcile sees of the operator's settings. A part whose ConfigMap the store does not watch has its
// defaults.
type Config struct {
	Network       *Network
	Domain        *Domain
	Deployment    *Deployment
	GC            *GC
	Observability *Observability

	// Defaults, Features and Autoscaler are those that defaulting and validation go by, too.
	Defaults   *apiconfig.Defaults
	Features   *apiconfig.Features
	Autoscaler *apiconfig.Autoscaler
}

type contextKey struct{}

// FromContext returns the configuration that a Store, or ToContext, put into ctx; the defaults if none did.
func FromContext(ctx context.Context) *Config {
	if c, ok := ctx.Value(contextKey{}).(*Config); ok {
		return c
	}
	return defaults(ctx)
}

// ToContext attaches c to ctx, for reconcilers and for the defaulting of our kinds.
func ToContext(ctx context.Context, c *Config) context.Context {
	return context.WithValue(apiconfig.ToContext(ctx, c.API()), contextKey{}, c)
}

// API returns the part that defaulting and validation go by.
func (c *Config) API() *apiconfig.Config {
	return &apiconfig.Config{Defaults: c.Defaults, Features: c.Features, Autoscaler: c.Autoscaler, Network: c.Network.tags}
}

// Default is the configuration of empty ConfigMaps.
func Default() *Config { return defaults(context.Background()) }

// defaults keeps what ctx has of the settings of defaulting and validation.
func defaults(ctx context.Context) *Config {
	api := apiconfig.FromContextOrDefaults(ctx)
	return &Config{
		Network:       defaultNetwork(), //nolint:contextcheck // an empty ConfigMap is read the same in any context
		Domain:        defaultDomain(),
		Deployment:    defaultDeployment(),
		GC:            defaultGC(),
		Observability: &Observability{},
		Defaults:      api.Defaults,
		Features:      api.Features,
		Autoscaler:    api.Autoscaler,
	}
}

// Store follows some of the ConfigMaps and attaches their newest good values to the contexts of reconciles.
type Store struct {
	*configmap.UntypedStore
	defaults *Config // of what it does not follow: each reconcile and each admission loads
}

// NewStore returns a store of the named ConfigMaps, which must be ones that reconcilers read. Each onAfterStore is called with
// the name and the value of a ConfigMap after a change of it.
func NewStore(logger configmap.Logger, names []string, onAfterStore ...func(name string, value any)) *Store {
	known, wanted := all(), configmap.Constructors{}
	for _, name := range names {
		stored := known[name].stored
		if stored == nil {
			panic(fmt.Sprintf("config: no parser for ConfigMap %q", name))
		}
		wanted[name] = stored
	}
	return &Store{configmap.NewUntypedStore("controlplane", logger, wanted, onAfterStore...), Default()}
}

// Follow returns a store of the named ConfigMaps that cmw keeps up to date; see NewStore.
func Follow(ctx context.Context, cmw configmap.Watcher, names []string, onAfterStore ...func(name string, value any)) *Store {
	store := NewStore(logging.FromContext(ctx).Named("config-store"), names, onAfterStore...) //nolint:contextcheck // empty ConfigMaps are read the same in any context
	store.WatchConfigs(cmw)
	return store
}

// ForDefaulting returns a store of what defaulting goes by, for reconcilers that compare an object with what it was made of, and
// of more that they name.
func ForDefaulting(ctx context.Context, cmw configmap.Watcher, more ...string) *Store {
	return Follow(ctx, cmw, append([]string{DefaultsName, FeaturesName, AutoscalerName}, more...))
}

// ToContext implements reconciler.ConfigStore.
func (s *Store) ToContext(ctx context.Context) context.Context {
	return ToContext(ctx, s.Load())
}

// Load returns the present values.
func (s *Store) Load() *Config {
	c := *s.defaults
	load(s, NetworkName, &c.Network)
	load(s, DomainName, &c.Domain)
	load(s, DeploymentName, &c.Deployment)
	load(s, GCName, &c.GC)
	load(s, ObservabilityName, &c.Observability)
	load(s, DefaultsName, &c.Defaults)
	load(s, FeaturesName, &c.Features)
	load(s, AutoscalerName, &c.Autoscaler)
	return &c
}

// load replaces the default at target by what the store holds under name, if anything.
func load[T any](s *Store, name string, target **T) {
	if v, ok := s.UntypedLoad(name).(*T); ok && v != nil {
		*target = v
	}
}

// parse reads the keys of cm and names cm in the error.
func parse(cm *corev1.ConfigMap, parsers ...configmap.ParseFunc) error {
	if err := configmap.Parse(cm.Data, parsers...); err != nil {
		return fmt.Errorf("ConfigMap %s: %w", cm.Name, err)
	}
	return nil
}
