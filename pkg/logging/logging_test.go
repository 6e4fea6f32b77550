// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package logging

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
	corev1 "k8s.io/api/core/v1"
)

func TestContext(t *testing.T) {
	if HasLogger(t.Context()) || FromContext(t.Context()) == nil {
		t.Error("a context without a logger has none, and gives one that discards")
	}
	core, logs := observer.New(zap.InfoLevel)
	ctx := With(WithLogger(context.Background(), zap.New(core).Sugar()), "key", "value")
	FromContext(ctx).Info("hello")
	entries := logs.All()
	if len(entries) != 1 || entries[0].ContextMap()["key"] != "value" {
		t.Errorf("logged %v", entries)
	}
}

func TestConfig(t *testing.T) {
	tests := map[string]struct {
		reason  string
		data    map[string]string
		want    zapcore.Level
		wantErr string
	}{
		"Default":   {"production", nil, zap.InfoLevel, ""},
		"ZapLevel":  {"the level of all components", map[string]string{"zap-logger-config": `{"level":"warn","encoding":"json"}`}, zap.WarnLevel, ""},
		"Component": {"a component's own level", map[string]string{"loglevel.ctl": " debug "}, zap.DebugLevel, ""},
		"Other":     {"another component's level", map[string]string{"loglevel.other": "debug"}, zap.InfoLevel, ""},
		"Bad":       {"the key is named", map[string]string{"loglevel.ctl": "loud"}, 0, `"loglevel.ctl"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cfg, err := NewConfigFromMap(tc.data)
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Errorf("%s: error is %v", tc.reason, err)
				}
				return
			}
			if err != nil {
				t.Fatalf("NewConfigFromMap: %v", err)
			}
			if _, level := NewLoggerFromConfig(cfg, "ctl"); level.Level() != tc.want {
				t.Errorf("%s: level is %v, want %v", tc.reason, level, tc.want)
			}
		})
	}
}

func TestBrokenZapConfig(t *testing.T) {
	logger, level := NewLogger(`{"level":`, "")
	if logger == nil || level.Level() != zap.InfoLevel {
		t.Error("a process must not be without a logger for its log settings")
	}
}

func TestUpdateLevel(t *testing.T) {
	level := zap.NewAtomicLevelAt(zap.InfoLevel)
	update := UpdateLevelFromConfigMap(zap.NewNop().Sugar(), level, "ctl")
	for _, step := range []struct {
		value string
		want  zapcore.Level
	}{{"debug", zap.DebugLevel}, {"nonsense", zap.DebugLevel}, {"", zap.InfoLevel}} {
		update(&corev1.ConfigMap{Data: map[string]string{"loglevel.ctl": step.value}})
		if level.Level() != step.want {
			t.Errorf("after %q the level is %v, want %v", step.value, level, step.want)
		}
	}
	update(&corev1.ConfigMap{Data: map[string]string{"zap-logger-config": `{"level":"error"}`}})
	for _, broken := range []string{`{}`, `{`, `{"level":"loud"}`} {
		update(&corev1.ConfigMap{Data: map[string]string{"zap-logger-config": broken}})
		if level.Level() != zap.ErrorLevel {
			t.Errorf("%s says no level: it stays, got %v", broken, level)
		}
	}
}

func TestConfigRoundTrip(t *testing.T) {
	cfg, err := NewConfigFromMap(map[string]string{"loglevel.a": "warn"})
	if err != nil {
		t.Fatal(err)
	}
	text, err := ConfigToJSON(cfg)
	if err != nil {
		t.Fatal(err)
	}
	got, err := JSONToConfig(text)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(cfg, got); d != "" {
		t.Errorf("round trip (-want +got):\n%s", d)
	}
	if _, err := JSONToConfig(""); err == nil {
		t.Error("nothing is no configuration")
	}
}

func TestConfigMapName(t *testing.T) {
	if got := ConfigMapName(); got != "config-logging" {
		t.Errorf("name is %q", got)
	}
	t.Setenv("CONFIG_LOGGING_NAME", "mine")
	if got := ConfigMapName(); got != "mine" {
		t.Errorf("name is %q", got)
	}
}
