// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	apiconfig "weir.dev/api/config"
	"weir.dev/internal/controlplane/config"
	"weir.dev/pkg/configmap"
)

// Settings follows the ConfigMaps that defaulting, validation and dry runs depend on and
// holds the last good value of each.
type Settings struct{ store *config.Store }

// NewSettings returns settings at their defaults; they follow once WatchConfigs
// is called.
func NewSettings(log configmap.Logger) *Settings {
	return &Settings{config.NewStore(log, []string{
		config.DefaultsName, config.FeaturesName, config.AutoscalerName, config.NetworkName, config.DeploymentName,
	})}
}

// WatchConfigs has the settings kept up to date by w.
func (s *Settings) WatchConfigs(w configmap.Watcher) { s.store.WatchConfigs(w) }

// Load returns the present settings.
func (s *Settings) Load() *apiconfig.Config { return s.store.Load().API() }

// Deployment returns the present settings that pods are made by.
func (s *Settings) Deployment() *config.Deployment { return s.store.Load().Deployment }
