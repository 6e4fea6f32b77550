// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package observability

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestConfig(t *testing.T) {
	tests := map[string]struct {
		reason string
		env    map[string]string
		data   map[string]string
		want   *Config
		err    string
	}{
		"Empty": {
			reason: "nothing is sent unless asked for",
			want:   DefaultConfig(),
		},
		"All": {
			reason: "every key is read",
			data: map[string]string{
				"metrics-protocol": "grpc", "metrics-endpoint": "collector:4317", "metrics-export-interval": "30s",
				"tracing-protocol": "http/protobuf", "tracing-endpoint": "http://collector:4318/v1/traces", "tracing-sampling-rate": "0.25",
				"runtime-profiling": "enabled", "runtime-export-interval": "1m",
				"logging.enable-request-log": "true",
			},
			want: &Config{
				Metrics: Metrics{Protocol: "grpc", Endpoint: "collector:4317", ExportInterval: 30 * time.Second},
				Tracing: Tracing{Protocol: "http/protobuf", Endpoint: "http://collector:4318/v1/traces", SamplingRate: 0.25},
				Runtime: Runtime{Profiling: true, ExportInterval: time.Minute},
			},
		},
		"EndpointFromEnvironment": {
			reason: "the variables of the standard name the collector, too",
			env:    map[string]string{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://collector:4318"},
			data:   map[string]string{"metrics-protocol": "http/protobuf"},
			want:   &Config{Metrics: Metrics{Protocol: "http/protobuf"}, Tracing: Tracing{Protocol: "none"}, Runtime: Runtime{ExportInterval: 15 * time.Second}},
		},
		"NoEndpoint":        {"a collector must be named", nil, map[string]string{"metrics-protocol": "grpc"}, nil, "metrics-endpoint"},
		"EndpointForNobody": {"an endpoint without protocol is a mistake", nil, map[string]string{"tracing-endpoint": "a:1"}, nil, "tracing-endpoint"},
		"MetricsToStdout":   {"stdout is for traces", nil, map[string]string{"metrics-protocol": "stdout"}, nil, "metrics-protocol"},
		"TracesToScrape":    {"traces cannot be scraped", nil, map[string]string{"tracing-protocol": "prometheus"}, nil, "tracing-protocol"},
		"Rate":              {"a rate is a share", nil, map[string]string{"tracing-sampling-rate": "2"}, nil, "tracing-sampling-rate"},
		"NotARate":          {"NaN is no share", nil, map[string]string{"tracing-sampling-rate": "NaN"}, nil, "tracing-sampling-rate"},
		"Switch":            {"other words than the two are mistakes", nil, map[string]string{"runtime-profiling": "yes"}, nil, "runtime-profiling"},
		"Interval":          {"time does not run backwards", nil, map[string]string{"metrics-export-interval": "-1s"}, nil, "metrics-export-interval"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for k, v := range tc.env {
				t.Setenv(k, v)
			}
			got, err := NewConfigFromMap(tc.data)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("%s: error is %v, want one about %s", tc.reason, err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, d)
			}
		})
	}
}
