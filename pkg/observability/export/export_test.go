// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package export

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"weir.dev/pkg/observability"
)

// collector is an OTLP collector that keeps the paths of what it got.
type collector struct {
	*httptest.Server
	mu   sync.Mutex
	got  []string
	body strings.Builder
}

func newCollector(t *testing.T) *collector {
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.got = append(c.got, r.URL.Path)
		c.body.Write(body)
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(c.Close)
	return c
}

// record makes one measurement and one span.
func record(ctx context.Context, t *testing.T) {
	t.Helper()
	counter, err := observability.GetMeterProvider(ctx).Meter("test").Int64Counter("kn.test.runs")
	if err != nil {
		t.Fatal(err)
	}
	counter.Add(ctx, 1)
	_, span := observability.GetTracerProvider(ctx).Tracer("test").Start(ctx, "test-span")
	span.End()
}

// TestOTLP: what was recorded reaches the collector at the latest when the
// providers are shut down, whether ConfigMap or environment name it.
func TestOTLP(t *testing.T) {
	tests := map[string]struct {
		reason string
		config func(url string) *observability.Config
		env    string
	}{
		"ConfigMap": {
			reason: "the endpoints are those of the ConfigMap",
			config: func(url string) *observability.Config {
				c := observability.DefaultConfig()
				c.Metrics.Protocol, c.Metrics.Endpoint = observability.ProtocolHTTP, url+"/v1/metrics"
				c.Tracing = observability.Tracing{Protocol: observability.ProtocolHTTP, Endpoint: url + "/v1/traces", SamplingRate: 1}
				return c
			},
		},
		"Environment": {
			reason: "a variable of the standard counts more",
			config: func(string) *observability.Config {
				c := observability.DefaultConfig()
				c.Metrics.Protocol, c.Metrics.Endpoint = observability.ProtocolHTTP, "http://127.0.0.1:1/nowhere"
				c.Tracing = observability.Tracing{Protocol: observability.ProtocolHTTP, Endpoint: "http://127.0.0.1:1/nowhere", SamplingRate: 1}
				return c
			},
			env: "OTEL_EXPORTER_OTLP_ENDPOINT",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCollector(t)
			if tc.env != "" {
				t.Setenv(tc.env, c.URL)
			}
			p, err := New(t.Context(), "component", tc.config(c.URL))
			if err != nil {
				t.Fatal(err)
			}
			record(p.Context(t.Context()), t)
			if err := p.Shutdown(t.Context()); err != nil {
				t.Fatalf("Shutdown: %v", err)
			}
			slices.Sort(c.got)
			if got := slices.Compact(c.got); !slices.Equal(got, []string{"/v1/metrics", "/v1/traces"}) {
				t.Errorf("%s: the collector got %v", tc.reason, got)
			}
			for _, want := range []string{"kn.test.runs", "test-span", "component"} {
				if !strings.Contains(c.body.String(), want) {
					t.Errorf("%s: %s did not reach the collector", tc.reason, want)
				}
			}
		})
	}
}

// TestPrometheus: metrics are served to be scraped until the end.
func TestPrometheus(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	t.Setenv("METRICS_PROMETHEUS_HOST", "127.0.0.1")
	t.Setenv("METRICS_PROMETHEUS_PORT", port)
	cfg := observability.DefaultConfig()
	cfg.Metrics.Protocol = observability.ProtocolPrometheus
	p, err := New(t.Context(), "component", cfg)
	if err != nil {
		t.Fatal(err)
	}
	record(p.Context(t.Context()), t)
	url := "http://127.0.0.1:" + port + "/metrics"
	body := get(t, url)
	for _, want := range []string{"kn_test_runs_total", `service_name="component"`, "go_memory_used_bytes"} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is missing in:\n%s", want, body)
		}
	}
	if err := p.Shutdown(t.Context()); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	if conn, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
		conn.Close()
		t.Error("metrics are served after the end")
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %d, %v", url, resp.StatusCode, err)
	}
	return string(body)
}

func TestBadEnvironment(t *testing.T) {
	tests := map[string]struct {
		reason string
		env    map[string]string
		want   string
	}{
		"LowPort":    {"a port that needs privileges is a mistake", map[string]string{"PORT": "80"}, "PORT"},
		"NoPort":     {"a word is no port", map[string]string{"PORT": "web"}, "PORT"},
		"NoSuchCert": {"a certificate that is not there must not mean plain HTTP", map[string]string{"TLS_CERT": "/nowhere", "TLS_KEY": "/nowhere"}, "TLS_CERT"},
		"KeyOnly":    {"nor must half of a pair", map[string]string{"TLS_KEY": "/nowhere"}, "TLS_CERT"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv("METRICS_PROMETHEUS_HOST", "127.0.0.1")
			t.Setenv("METRICS_PROMETHEUS_PORT", strconv.Itoa(1<<15))
			for key, value := range tc.env {
				t.Setenv("METRICS_PROMETHEUS_"+key, value)
			}
			cfg := observability.DefaultConfig()
			cfg.Metrics.Protocol = observability.ProtocolPrometheus
			if _, err := New(t.Context(), "component", cfg); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: error is %v, want one about %s", tc.reason, err, tc.want)
			}
		})
	}
}
