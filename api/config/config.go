// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package config holds the settings that defaulting and validation of our
// kinds depend on, as plain values in the context: parsed from ConfigMaps by
// pure functions, watched by others.
package config

import "context"

// Names of the ConfigMaps, in the system namespace.
const (
	// DefaultsName is the ConfigMap of Defaults.
	DefaultsName = "config-defaults"
	// FeaturesName is the ConfigMap of Features.
	FeaturesName = "config-features"
	// AutoscalerName is the ConfigMap of Autoscaler.
	AutoscalerName = "config-autoscaler"
	// NetworkName is the ConfigMap of Network.
	NetworkName = "config-network"
)

// Config is all settings. It is not changed once it is in a context.
type Config struct {
	// Defaults of revisions.
	Defaults *Defaults
	// Features that are on.
	Features *Features
	// Autoscaler's defaults and bounds.
	Autoscaler *Autoscaler
	// Network's names of tags.
	Network *Network
}

type key struct{}

// ToContext attaches the settings; parts that are nil stay at their defaults.
func ToContext(ctx context.Context, c *Config) context.Context {
	return context.WithValue(ctx, key{}, c)
}

// FromContextOrDefaults returns the settings of the context, with defaults for
// parts that it does not carry. Never nil, no part is nil.
func FromContextOrDefaults(ctx context.Context) *Config {
	out := Config{}
	if c, ok := ctx.Value(key{}).(*Config); ok && c != nil {
		out = *c
	}
	if out.Defaults == nil {
		out.Defaults = defaultDefaults()
	}
	if out.Features == nil {
		out.Features = defaultFeatures()
	}
	if out.Autoscaler == nil {
		out.Autoscaler = defaultAutoscaler()
	}
	if out.Network == nil {
		out.Network = defaultNetwork()
	}
	return &out
}
