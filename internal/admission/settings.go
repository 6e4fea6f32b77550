// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	corev1 "k8s.io/api/core/v1"
	"weir.dev/api/config"
	"weir.dev/pkg/configmap"
)

// settingsConstructors are the parsers of the ConfigMaps that defaulting and
// validation depend on.
func settingsConstructors() configmap.Constructors {
	return configmap.Constructors{
		config.DefaultsName:   ofData(config.NewDefaults),
		config.FeaturesName:   ofData(config.NewFeatures),
		config.AutoscalerName: ofData(config.NewAutoscaler),
		config.NetworkName:    ofData(config.NewNetwork),
	}
}

// strictConstructors are the parsers by which a change of those ConfigMaps is
// admitted.
func strictConstructors() configmap.Constructors {
	return configmap.Constructors{
		config.DefaultsName:   ofData(config.StrictDefaults),
		config.FeaturesName:   ofData(config.StrictFeatures),
		config.AutoscalerName: ofData(config.StrictAutoscaler),
		config.NetworkName:    ofData(config.NewNetwork),
	}
}

func ofData[T any](parse func(map[string]string) (*T, error)) func(*corev1.ConfigMap) (*T, error) {
	return func(cm *corev1.ConfigMap) (*T, error) { return parse(cm.Data) }
}

// Settings follows the ConfigMaps that defaulting and validation depend on and
// holds the last good value of each.
type Settings struct{ *configmap.UntypedStore }

// NewSettings returns settings at their defaults; they follow once WatchConfigs
// is called.
func NewSettings(log configmap.Logger) *Settings {
	return &Settings{configmap.NewUntypedStore("admission", log, settingsConstructors())}
}

// Load returns the present settings.
func (s *Settings) Load() *config.Config {
	c := &config.Config{}
	c.Defaults, _ = s.UntypedLoad(config.DefaultsName).(*config.Defaults)
	c.Features, _ = s.UntypedLoad(config.FeaturesName).(*config.Features)
	c.Autoscaler, _ = s.UntypedLoad(config.AutoscalerName).(*config.Autoscaler)
	c.Network, _ = s.UntypedLoad(config.NetworkName).(*config.Network)
	return c
}
