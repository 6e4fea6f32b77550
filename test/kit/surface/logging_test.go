// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package surface_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"weir.dev/pkg/logging"
	"weir.dev/pkg/logging/logkey"
	logtesting "weir.dev/pkg/logging/testing"
)

func TestLoggerOfContext(t *testing.T) {
	core, lines := observer.New(zap.InfoLevel)
	ctx := logging.WithLogger(t.Context(), zap.New(core).Sugar())
	logging.FromContext(ctx).Infow("message", logkey.Key, "ns/name")
	if lines.FilterMessage("message").FilterField(zap.String("knative.dev/key", "ns/name")).Len() != 1 {
		t.Errorf("logged: %v", lines.All())
	}
	logging.FromContext(t.Context()).Info("there is always a logger")
	if logging.FromContext(logtesting.TestContextWithLogger(t)) == nil || logtesting.TestLogger(t) == nil {
		t.Error("tests have one of their own")
	}
}

func TestLoggers(t *testing.T) {
	logger, level := logging.NewLogger("", "warn")
	if level.Level() != zapcore.WarnLevel || logger.Desugar().Core().Enabled(zapcore.InfoLevel) {
		t.Errorf("the level is %v, want that of the argument", level)
	}
	if _, level = logging.NewLogger(`{"level": "error", "encoding": "json"}`, "", zap.AddCallerSkip(1)); level.Level() != zapcore.ErrorLevel {
		t.Errorf("the level is %v, want that of the configuration", level)
	}
	if logger, _ = logging.NewLogger("no JSON", ""); logger == nil {
		t.Error("a process does not die of its log settings")
	}
	config, err := logging.NewConfigFromMap(map[string]string{
		"zap-logger-config":  `{"level": "info", "encoding": "json"}`,
		"loglevel.component": "debug",
	})
	if err != nil {
		t.Fatal(err)
	}
	componentLogger, level := logging.NewLoggerFromConfig(config, "component")
	if level.Level() != zapcore.DebugLevel || componentLogger.Desugar().Name() != "component" {
		t.Errorf("level %v, name %s", level, componentLogger.Desugar().Name())
	}
	update := logging.UpdateLevelFromConfigMap(logtesting.TestLogger(t), level, "component")
	for text, want := range map[string]zapcore.Level{"error": zapcore.ErrorLevel, "info": zapcore.InfoLevel} {
		update(configMap("config-logging", map[string]string{"loglevel.component": text}))
		update(configMap("config-logging", map[string]string{"loglevel.component": "none"})) // changes nothing
		if level.Level() != want {
			t.Errorf("the level is %v, want %v", level, want)
		}
	}
}

// TestConfigAsJSON: a process hands its configuration to another.
func TestConfigAsJSON(t *testing.T) {
	config, err := logging.NewConfigFromConfigMap(configMap("config-logging", map[string]string{"loglevel.a": "error"}))
	if err != nil {
		t.Fatal(err)
	}
	text, err := logging.ConfigToJSON(config)
	if err != nil {
		t.Fatal(err)
	}
	got, err := logging.JSONToConfig(text)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(config, got); d != "" {
		t.Errorf("there and back (-want +got):\n%s", d)
	}
	if _, err := logging.NewConfigFromMap(map[string]string{"loglevel.a": "loud"}); err == nil {
		t.Error("there is no such level")
	}
}

func TestLogKeys(t *testing.T) {
	for _, key := range []string{
		logkey.ControllerType, logkey.Kind, logkey.Key, logkey.Name, logkey.Namespace, logkey.TraceID, logkey.Resource,
		logkey.SubResource, logkey.Operation, logkey.UserInfo, logkey.AdmissionReview,
	} {
		if !strings.HasPrefix(key, "knative.dev/") {
			t.Errorf("the key %s", key)
		}
	}
}
