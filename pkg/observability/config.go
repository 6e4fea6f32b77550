// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package observability

import (
	"fmt"
	"os"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"weir.dev/pkg/configmap"
)

const configMapNameEnv = "CONFIG_OBSERVABILITY_NAME"

// Protocols of metrics and traces.
const (
	// ProtocolNone sends nothing.
	ProtocolNone = "none"
	// ProtocolPrometheus serves metrics to be scraped.
	ProtocolPrometheus = "prometheus"
	// ProtocolGRPC sends OTLP over gRPC.
	ProtocolGRPC = "grpc"
	// ProtocolHTTP sends OTLP as protobuf over HTTP.
	ProtocolHTTP = "http/protobuf"
	// ProtocolStdout prints traces.
	ProtocolStdout = "stdout"
)

// ConfigMapName is the name of the ConfigMap: the environment variable
// CONFIG_OBSERVABILITY_NAME, else config-observability.
func ConfigMapName() string {
	if name := os.Getenv(configMapNameEnv); name != "" {
		return name
	}
	return "config-observability"
}

// Config is what config-observability says about a process itself.
type Config struct {
	Metrics Metrics
	Tracing Tracing
	Runtime Runtime
}

// Metrics says where the metrics of a process go.
type Metrics struct {
	// Protocol is none, prometheus, grpc or http/protobuf.
	Protocol string
	// Endpoint is the collector of the OTLP protocols: a URL, for gRPC also host:port.
	Endpoint string
	// ExportInterval is the time between two exports; 0 is the exporter's own.
	ExportInterval time.Duration
}

// Tracing says where the traces of a process go.
type Tracing struct {
	// Protocol is none, grpc, http/protobuf or stdout.
	Protocol string
	// Endpoint is the collector of the OTLP protocols: a URL, for gRPC also host:port.
	Endpoint string
	// SamplingRate is the share of traces that begin here and are kept, 0 to 1.
	SamplingRate float64
}

// Runtime says what a process tells about the Go runtime.
type Runtime struct {
	// Profiling serves profiles (package profiling).
	Profiling bool
	// ExportInterval is how often the runtime's metrics are read anew at most.
	ExportInterval time.Duration
}

// DefaultConfig sends nothing.
func DefaultConfig() *Config {
	return &Config{
		Metrics: Metrics{Protocol: ProtocolNone},
		Tracing: Tracing{Protocol: ProtocolNone},
		Runtime: Runtime{ExportInterval: 15 * time.Second},
	}
}

// NewConfigFromConfigMap parses the ConfigMap; nil gives the defaults.
func NewConfigFromConfigMap(cm *corev1.ConfigMap) (*Config, error) {
	if cm == nil {
		return DefaultConfig(), nil
	}
	return NewConfigFromMap(cm.Data)
}

// NewConfigFromMap parses the data of the ConfigMap.
func NewConfigFromMap(data map[string]string) (*Config, error) {
	cfg := DefaultConfig()
	err := configmap.Parse(data,
		configmap.AsString("metrics-protocol", &cfg.Metrics.Protocol),
		configmap.AsString("metrics-endpoint", &cfg.Metrics.Endpoint),
		configmap.AsDuration("metrics-export-interval", &cfg.Metrics.ExportInterval),
		configmap.AsString("tracing-protocol", &cfg.Tracing.Protocol),
		configmap.AsString("tracing-endpoint", &cfg.Tracing.Endpoint),
		configmap.AsFloat64("tracing-sampling-rate", &cfg.Tracing.SamplingRate),
		configmap.AsFunc("runtime-profiling", &cfg.Runtime.Profiling, parseSwitch),
		configmap.AsDuration("runtime-export-interval", &cfg.Runtime.ExportInterval),
	)
	if err != nil {
		return nil, err
	}
	return cfg, cfg.validate()
}

func parseSwitch(s string) (bool, error) {
	switch s {
	case "enabled":
		return true, nil
	case "disabled", "":
		return false, nil
	}
	return false, fmt.Errorf("want enabled or disabled, got %q", s)
}

func (c *Config) validate() error {
	if err := validateTarget("metrics", c.Metrics.Protocol, c.Metrics.Endpoint, ProtocolPrometheus); err != nil {
		return err
	}
	if err := validateTarget("tracing", c.Tracing.Protocol, c.Tracing.Endpoint, ProtocolStdout); err != nil {
		return err
	}
	if rate := c.Tracing.SamplingRate; !(rate >= 0 && rate <= 1) { // not a number is neither
		return fmt.Errorf("tracing-sampling-rate: want 0 to 1, got %v", rate)
	}
	if c.Metrics.ExportInterval < 0 {
		return fmt.Errorf("metrics-export-interval: want a positive duration, got %v", c.Metrics.ExportInterval)
	}
	return nil
}

// validateTarget checks a protocol, which besides those of OTLP may be local,
// and whether it goes with the endpoint. The variables of the OpenTelemetry
// standard may name the endpoint instead.
func validateTarget(what, protocol, endpoint, local string) error {
	known := []string{ProtocolNone, local, ProtocolGRPC, ProtocolHTTP}
	sends := protocol == ProtocolGRPC || protocol == ProtocolHTTP
	switch {
	case !slices.Contains(known, protocol):
		return fmt.Errorf("%s-protocol: want one of %q, got %q", what, known, protocol)
	case sends && endpoint == "" && !EndpointInEnvironment(what):
		return fmt.Errorf("%s-endpoint: %s-protocol %q needs one", what, what, protocol)
	case protocol == ProtocolNone && endpoint != "":
		return fmt.Errorf("%s-endpoint: %q goes nowhere with %s-protocol %q", what, endpoint, what, protocol)
	}
	return nil
}

// EndpointInEnvironment tells whether a variable of the OpenTelemetry standard
// names the collector of what, metrics or tracing; it counts more than the
// ConfigMap.
func EndpointInEnvironment(what string) bool {
	signal := map[string]string{"metrics": "METRICS_", "tracing": "TRACES_"}[what]
	return os.Getenv("OTEL_EXPORTER_OTLP_"+signal+"ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != ""
}
