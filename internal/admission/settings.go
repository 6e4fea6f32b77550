// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	apiconfig "weir.dev/api/config"
	"weir.dev/internal/controlplane/config"
	"weir.dev/pkg/configmap"
)

// Settings follows the ConfigMaps that defaulting and validation depend on and
// holds the last good value of each.
type Settings struct{ store *config.Store }

// NewSettings returns settings at their defaults; they follow once WatchConfigs
// is called.
func NewSettings(log configmap.Logger) *Settings {
	return &Settings{config.NewStore(log, []string{
		config.DefaultsName, config.FeaturesName, config.AutoscalerName, config.NetworkName,
	})}
}

// WatchConfigs has the settings kept up to date by w.
func (s *Settings) WatchConfigs(w configmap.Watcher) { s.store.WatchConfigs(w) }

// Load returns the present settings.
func (s *Settings) Load() *apiconfig.Config { return s.store.Load().API() }
