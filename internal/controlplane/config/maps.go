// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	apiconfig "weir.dev/api/config"
	"weir.dev/internal/controlplane/config/keys"
	"weir.dev/pkg/configmap"
	"weir.dev/pkg/leaderelection"
)

// parser makes settings of a ConfigMap.
type parser func(*corev1.ConfigMap) (any, error)

// settings are what a ConfigMap is read by. Its keys are in package keys.
type settings struct {
	// stored reads what is there: it refuses only what cannot be meant in any way, since a new rule must not keep a system
	// from starting. nil is a ConfigMap that the processes read themselves.
	stored parser
	// admitted reads what is to be stored, once each value is of its key's type: it refuses what a program can live with and
	// nobody can mean, too.
	admitted parser
}

// all are the ConfigMaps that we know, by name.
func all() map[string]settings {
	same := func(p parser) settings { return settings{stored: p, admitted: p} }
	return map[string]settings{
		DefaultsName:       {stored: ofData(apiconfig.NewDefaults), admitted: ofData(apiconfig.StrictDefaults)},
		FeaturesName:       same(ofData(apiconfig.NewFeatures)),
		AutoscalerName:     {stored: ofData(apiconfig.NewAutoscaler), admitted: ofData(apiconfig.StrictAutoscaler)},
		NetworkName:        {stored: of(NewNetwork), admitted: of(strictNetwork)},
		DomainName:         {stored: of(NewDomain), admitted: of(strictDomain)},
		DeploymentName:     {stored: of(NewDeployment), admitted: of(strictDeployment)},
		GCName:             same(of(NewGC)),
		ObservabilityName:  {stored: of(NewObservability), admitted: of(strictObservability)},
		LoggingName:        {admitted: of(strictLogging)},
		LeaderElectionName: {admitted: of(leaderelection.NewConfigFromConfigMap)},
	}
}

// Constructors returns, by name, what a change of any of the ConfigMaps is admitted by.
func Constructors() configmap.Constructors {
	out := configmap.Constructors{}
	known := all()
	for _, m := range keys.All() {
		admitted := known[m.Name].admitted
		out[m.Name] = func(cm *corev1.ConfigMap) (any, error) {
			if err := m.Check(cm.Data); err != nil {
				return nil, named(cm, err)
			}
			value, err := admitted(cm)
			return value, named(cm, err)
		}
	}
	return out
}

// named puts the name of the ConfigMap in front of every line of an error: admission compares lines with those of the ConfigMap
// as it was.
func named(cm *corev1.ConfigMap, err error) error {
	if err == nil {
		return nil
	}
	prefix := "ConfigMap " + cm.Name + ": "
	lines := strings.Split(err.Error(), "\n")
	for i, line := range lines {
		lines[i] = prefix + strings.TrimPrefix(strings.TrimPrefix(line, prefix), cm.Name+": ")
	}
	return errors.New(strings.Join(lines, "\n"))
}

// Warnings tells what in a ConfigMap does nothing: keys without effect here, and keys that nobody knows.
func Warnings(cm *corev1.ConfigMap) []string {
	for _, m := range keys.All() {
		if m.Name == cm.Name {
			return m.Warnings(cm.Data)
		}
	}
	switch cm.Name {
	case "config-tracing":
		return []string{cm.Name + " is not read: tracing is a part of " + ObservabilityName}
	case "config-certmanager":
		return []string{cm.Name + " is not read: there are no certificates yet"}
	}
	return nil
}

func of[T any](parse func(*corev1.ConfigMap) (T, error)) parser {
	return func(cm *corev1.ConfigMap) (any, error) { return parse(cm) }
}

// ofData is of for a parser of data, which does not know the ConfigMap's name.
func ofData[T any](parse func(map[string]string) (T, error)) parser {
	return func(cm *corev1.ConfigMap) (any, error) {
		v, err := parse(cm.Data)
		if err != nil {
			return nil, fmt.Errorf("ConfigMap %s: %w", cm.Name, err)
		}
		return v, nil
	}
}
