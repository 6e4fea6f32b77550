// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"go.uber.org/zap"
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
	if level, ok := cfg.LoggingLevel[component]; ok {
		return &level, nil
	}
	text, ok := cm.Data["zap-logger-config"]
	if !ok {
		return nil, nil
	}
	var zc zap.Config
	if err := json.Unmarshal([]byte(text), &zc); err != nil {
		return nil, fmt.Errorf("zap-logger-config: %w", err)
	}
	if zc.Level == (zap.AtomicLevel{}) {
		return nil, errors.New("zap-logger-config: no level")
	}
	level := zc.Level.Level()
	return &level, nil
}
