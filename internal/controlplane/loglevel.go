// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"strings"

	"go.uber.org/zap/zapcore"
	corev1 "k8s.io/api/core/v1"

	"weir.dev/internal/controlplane/config"
	"weir.dev/pkg/configmap"
	"weir.dev/pkg/logging"
)

// followLevel hands on the level that config-logging names, where the logger is not of our making; else package sharedmain
// keeps it.
func (cp *ControlPlane) followLevel(ctx context.Context, cmw configmap.Watcher) {
	if cp.cfg.LogLevel == nil {
		return
	}
	log := logging.FromContext(ctx)
	cmw.Watch(config.LoggingName, func(cm *corev1.ConfigMap) {
		level, err := levelOf(cm)
		if err != nil {
			log.Errorw("The logging ConfigMap does not parse; the level stays", "error", err)
			return
		}
		cp.cfg.LogLevel(level)
	})
}

// levelOf returns the level that a ConfigMap names for the controller, nil if it names none.
func levelOf(cm *corev1.ConfigMap) (*zapcore.Level, error) {
	cfg, err := logging.NewConfigFromConfigMap(cm)
	if err != nil {
		return nil, err
	}
	_, ours := cfg.LoggingLevel[component]
	if !ours && strings.TrimSpace(cm.Data["zap-logger-config"]) == "" {
		return nil, nil
	}
	level, err := cfg.Level(component)
	if err != nil {
		return nil, err
	}
	return &level, nil
}
