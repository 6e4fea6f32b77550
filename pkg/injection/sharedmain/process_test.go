// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package sharedmain

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"weir.dev/pkg/injection"
)

// TestProcess: what has a process to itself serves metrics and profiles as
// config-observability says, while its controllers work.
func TestProcess(t *testing.T) {
	metrics, profiles := freePort(t), freePort(t)
	t.Setenv("METRICS_PROMETHEUS_HOST", "127.0.0.1")
	t.Setenv("METRICS_PROMETHEUS_PORT", metrics)
	t.Setenv("PROFILING_PORT", profiles)
	server := newAPIServer(t, needed(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "config-observability"},
		Data:       map[string]string{"metrics-protocol": "prometheus", "runtime-profiling": "enabled"},
	})
	ctx, cancel := context.WithCancel(WithHealthProbesDisabled(testContext(t)))
	defer cancel()
	err := runProcess(ctx, "component", server.config(), []injection.ControllerConstructor{newController(func(context.Context, string) error {
		defer cancel()
		body := get(t, "http://127.0.0.1:"+metrics+"/metrics")
		for _, want := range []string{
			`kn_workqueue_adds_total{name="test"`,  // of controllers
			"http_client_request_duration_seconds", // of the API server's clients
			"go_goroutine_count",                   // of the runtime
		} {
			if !strings.Contains(body, want) {
				t.Errorf("%s is missing in:\n%s", want, body)
			}
		}
		if body := get(t, "http://127.0.0.1:"+profiles+"/debug/pprof/goroutine?debug=1"); !strings.Contains(body, "goroutine profile") {
			t.Errorf("no profile: %s", body)
		}
		return nil
	})})
	if err != nil {
		t.Errorf("runProcess: %v", err)
	}
	if conn, err := net.Dial("tcp", "127.0.0.1:"+profiles); err == nil {
		conn.Close()
		t.Error("profiles are served after the end")
	}
}

// TestProcessFails: a configuration that cannot be followed ends the start.
func TestProcessFails(t *testing.T) {
	server := newAPIServer(t, needed(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "config-observability"},
		Data:       map[string]string{"metrics-protocol": "grpc"},
	})
	err := runProcess(testContext(t), "component", server.config(), nil)
	if err == nil || !strings.Contains(err.Error(), "metrics-endpoint") {
		t.Errorf("runProcess: %v, want an error about the missing endpoint", err)
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

func get(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return string(body)
}
