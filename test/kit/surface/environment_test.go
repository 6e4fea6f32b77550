// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package surface_test

import (
	"crypto/tls"
	"errors"
	"flag"
	"testing"

	k8sversion "k8s.io/apimachinery/pkg/version"

	"weir.dev/pkg/environment"
	"weir.dev/pkg/leaderelection"
	"weir.dev/pkg/logging"
	networktls "weir.dev/pkg/network/tls"
	"weir.dev/pkg/observability"
	"weir.dev/pkg/profiling"
	"weir.dev/pkg/system"
	"weir.dev/pkg/version"
	"weir.dev/pkg/webhook"
)

// TestVariables: what is read from the environment, and what counts without it.
// CLUSTER_DOMAIN, K_THREADS_PER_CONTROLLER and KUBERNETES_MIN_VERSION are read
// by a program in sharedmain_test.go, STATEFUL_... in leaderelection_test.go.
func TestVariables(t *testing.T) {
	port := func() int { return webhook.PortFromEnv(8443) }
	tests := map[string]struct {
		variable, value string
		get             func() any
		unset, set      any // unset nil: it panics
	}{
		"Namespace":     {"SYSTEM_NAMESPACE", "mine", func() any { return system.Namespace() }, nil, "mine"},
		"ResourceLabel": {"SYSTEM_RESOURCE_LABEL", "mine", func() any { return system.ResourceLabel() }, "", "mine"},
		"PodName":       {"POD_NAME", "pod-1", func() any { return system.PodName() }, "host", "pod-1"},
		"Logging":       {"CONFIG_LOGGING_NAME", "x", func() any { return logging.ConfigMapName() }, "config-logging", "x"},
		"Observability": {"CONFIG_OBSERVABILITY_NAME", "x", func() any { return observability.ConfigMapName() }, "config-observability", "x"},
		"Leaders":       {"CONFIG_LEADERELECTION_NAME", "x", func() any { return leaderelection.ConfigMapName() }, "config-leader-election", "x"},
		"Webhook":       {"WEBHOOK_NAME", "hook", func() any { return webhook.NameFromEnv() }, nil, "hook"},
		"Port":          {"WEBHOOK_PORT", "9443", func() any { return port() }, 8443, 9443},
		"Secret":        {"WEBHOOK_SECRET_NAME", "s", func() any { return webhook.SecretNameFromEnv("certs") }, "certs", "s"},
		"Profiling":     {"PROFILING_PORT", "9008", func() any { return profiling.NewServer(nil).Addr }, ":8008", ":9008"},
	}
	t.Setenv("HOSTNAME", "host")
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv(tc.variable, "")
			if tc.unset == nil {
				if !panics(func() { tc.get() }) {
					t.Errorf("%s is needed, and there is no default", tc.variable)
				}
			} else if got := tc.get(); got != tc.unset {
				t.Errorf("without %s: %v, want %v", tc.variable, got, tc.unset)
			}
			t.Setenv(tc.variable, tc.value)
			if got := tc.get(); got != tc.set {
				t.Errorf("with %s: %v, want %v", tc.variable, got, tc.set)
			}
		})
	}
	t.Setenv("WEBHOOK_PORT", "0")
	if !panics(func() { port() }) {
		t.Error("nobody would find port 0")
	}
}

// TestTLSVariables: each component has the four under a prefix of its own.
func TestTLSVariables(t *testing.T) {
	for _, prefix := range []string{"WEBHOOK_", "QUEUE_PROXY_", "ACTIVATOR_", "TAG_TO_DIGEST_", "METRICS_PROMETHEUS_"} {
		cfg, err := networktls.DefaultConfigFromEnv(prefix)
		if err != nil || cfg.MinVersion != tls.VersionTLS13 {
			t.Errorf("%s: %v, want a minimum of 1.3", prefix, err)
		}
		t.Setenv(prefix+"TLS_MIN_VERSION", "1.2")
		t.Setenv(prefix+"TLS_MAX_VERSION", "1.3")
		t.Setenv(prefix+"TLS_CIPHER_SUITES", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256")
		t.Setenv(prefix+"TLS_CURVE_PREFERENCES", "X25519")
		cfg, err = networktls.DefaultConfigFromEnv(prefix)
		if err != nil {
			t.Fatal(err)
		}
		if cfg.MinVersion != tls.VersionTLS12 || cfg.MaxVersion != tls.VersionTLS13 || len(cfg.CipherSuites) != 1 || len(cfg.CurvePreferences) != 1 {
			t.Errorf("%s: %+v", prefix, cfg)
		}
	}
}

func TestClientConfig(t *testing.T) {
	t.Setenv("KUBE_API_QPS", "30")
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBECONFIG", "")
	var env environment.ClientConfig
	flags := flag.NewFlagSet("program", flag.ContinueOnError)
	env.InitFlags(flags)
	if err := flags.Parse([]string{"--server=https://flag.example.com", "--kube-api-burst=50", "--cluster=", "--kubeconfig="}); err != nil {
		t.Fatal(err)
	}
	cfg, err := env.GetRESTConfig()
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Host != "https://flag.example.com" || cfg.QPS != 30 || cfg.Burst != 50 {
		t.Errorf("got %s, QPS %v, burst %d", cfg.Host, cfg.QPS, cfg.Burst)
	}
	want := environment.ClientConfig{ServerURL: "https://flag.example.com", Burst: 50, QPS: 30, Cluster: "", Kubeconfig: ""}
	if env != want {
		t.Errorf("the flags say %+v", env)
	}
}

type serverVersion string

func (v serverVersion) ServerVersion() (*k8sversion.Info, error) {
	if v == "" {
		return nil, errors.New("no answer")
	}
	return &k8sversion.Info{GitVersion: string(v)}, nil
}

func TestMinimumVersion(t *testing.T) {
	var _ version.ServerVersionInterface = serverVersion("")
	tests := map[string]struct {
		server, minimum string
		ok              bool
	}{
		"Default":  {"v1.34.0", "", true},
		"Older":    {"v1.33.9", "", false},
		"Allowed":  {"v1.33.9", "v1.33.0", true},
		"Provider": {"v1.34.1-gke.100", "", true},
		"Silent":   {"", "", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBERNETES_MIN_VERSION", tc.minimum)
			if err := version.CheckMinimumVersion(serverVersion(tc.server)); (err == nil) != tc.ok {
				t.Errorf("CheckMinimumVersion: %v", err)
			}
		})
	}
}
