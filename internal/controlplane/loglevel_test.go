// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"testing"

	"go.uber.org/zap/zapcore"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"weir.dev/pkg/configmap"
)

func TestLogLevel(t *testing.T) {
	got := "untouched"
	cp := &ControlPlane{cfg: Config{LogLevel: func(l *zapcore.Level) {
		if got = "own"; l != nil {
			got = l.String()
		}
	}}}
	watcher := &configmap.ManualWatcher{Namespace: DefaultNamespace}
	cp.followLevel(t.Context(), watcher)
	for _, step := range []struct {
		reason string
		data   map[string]string
		want   string
	}{
		{"it names none", nil, "own"},
		{"the controller's", map[string]string{"loglevel.controller": "debug"}, "debug"},
		{"nonsense leaves it", map[string]string{"loglevel.controller": "loud"}, "debug"},
		{"all processes'", map[string]string{"zap-logger-config": `{"level":"error"}`}, "error"},
		{"the controller's comes first", map[string]string{"zap-logger-config": `{"level":"error"}`, "loglevel.controller": "warn"}, "warn"},
		{"no level leaves it", map[string]string{"zap-logger-config": `{}`}, "warn"},
		{"nor does no JSON", map[string]string{"zap-logger-config": `{`}, "warn"},
		{"an empty one names none", map[string]string{"zap-logger-config": "\n"}, "own"},
		{"it is removed", map[string]string{"loglevel.activator": "debug"}, "own"},
	} {
		watcher.OnChange(&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: "config-logging", Namespace: DefaultNamespace}, Data: step.data,
		})
		if got != step.want {
			t.Errorf("%s: got %s, want %s", step.reason, got, step.want)
		}
	}
}
