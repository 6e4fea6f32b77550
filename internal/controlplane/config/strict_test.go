// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// admit parses a ConfigMap as its admission does.
func admit(t *testing.T, cm *corev1.ConfigMap) error {
	t.Helper()
	out := reflect.ValueOf(Constructors()[cm.Name]).Call([]reflect.Value{reflect.ValueOf(cm)})
	err, _ := out[1].Interface().(error)
	return err
}

func TestAdmission(t *testing.T) {
	tests := map[string]struct {
		reason, name, key, value, want string // want "" is no error
	}{
		"scheme":          {"no client speaks it", NetworkName, "default-external-scheme", "ftp", `default-external-scheme = "ftp", must be one of http, https`},
		"https":           {"it is a scheme", NetworkName, "default-external-scheme", "https", ""},
		"external TLS":    {"neither on nor off", NetworkName, "external-domain-tls", "maybe", `external-domain-tls = "maybe", must be one of enabled, disabled`},
		"internal TLS":    {"neither on nor off", NetworkName, "system-internal-tls", "true", "system-internal-tls"},
		"local TLS":       {"in any case", NetworkName, "cluster-local-domain-tls", "Disabled", ""},
		"empty TLS":       {"as if it were not there", NetworkName, "external-domain-tls", "", ""},
		"protocol":        {"no guess", NetworkName, "http-protocol", "maybe", "http-protocol"},
		"domain":          {"a host has labels", NetworkName, "domain-template", "{{.Name}}_{{.Namespace}}.{{.Domain}}", `domain-template gives "foo_bar.baz.com"`},
		"empty label":     {"not one that is empty", NetworkName, "domain-template", "{{.Name}}..{{.Domain}}", "domain-template gives"},
		"no name":         {"all Routes would have one host", NetworkName, "domain-template", "{{.Namespace}}.{{.Domain}}", "it must contain .Name"},
		"no namespace":    {"names may be unique by other means", NetworkName, "domain-template", "{{.Name}}.{{.Domain}}", ""},
		"one label":       {"good for wildcard certificates", NetworkName, "domain-template", "{{.Name}}-{{.Namespace}}.{{.Domain}}", ""},
		"annotation":      {"Routes that have it have hosts", NetworkName, "domain-template", `{{.Name}}.{{index .Annotations "sub"}}.{{.Domain}}`, ""},
		"label":           {"the same in other words", NetworkName, "domain-template", "{{.Name}}.{{.Labels.zone}}.{{.Domain}}", ""},
		"tag":             {"it names a k8s Service", NetworkName, "tag-template", "-{{.Tag}}-{{.Name}}", "tag-template gives"},
		"tag digit":       {"which begins with a letter", NetworkName, "tag-template", "1{{.Tag}}-{{.Name}}", "tag-template gives"},
		"no tag":          {"all tags would have one host", NetworkName, "tag-template", "x-{{.Name}}", "it must contain .Tag"},
		"tag alone":       {"all Routes would have one host", NetworkName, "tag-template", "{{.Tag}}", "it must contain .Name"},
		"tag behind":      {"either order will do", NetworkName, "tag-template", "{{.Name}}-{{.Tag}}", ""},
		"old spelling":    {"it is read, too", NetworkName, "tagTemplate", "{{.Tag}}", "it must contain .Name"},
		"domain key":      {"no host ends so", DomainName, "exa_mple.com", "", `domain "exa_mple.com"`},
		"upper case":      {"hosts have no case", DomainName, "Example.com", "", ""},
		"example":         {"no domain", DomainName, "_example", "x", ""},
		"domain selector": {"no object has such a label", DomainName, "example.com", "selector: {a b: c}", `domain "example.com": selector`},
		"defaults":        {"they are judged alike", DefaultsName, "revision-cpu-limit", "-1", "ConfigMap config-defaults: revision-cpu-limit"},
		"feature":         {"they are judged alike", FeaturesName, "multi-container", "maybe", "ConfigMap config-features: multi-container"},
		"autoscaler":      {"they are judged alike", AutoscalerName, "max-scale-down-rate", "Inf", "ConfigMap config-autoscaler: max-scale-down-rate"},
		"metrics":         {"nobody knows it", ObservabilityName, "metrics-protocol", "carrier-pigeon", "metrics-protocol"},
		"sampling":        {"a rate is a share", ObservabilityName, "tracing-sampling-rate", "7", "tracing-sampling-rate"},
		"profiling":       {"the two words that there are", ObservabilityName, "runtime-profiling", "enabled", ""},
		"retention":       {"time goes forward", GCName, "retain-since-create-time", "-1h", "retain-since-create-time"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := admit(t, cm(tc.name, map[string]string{tc.key: tc.value}))
			if (err == nil) != (tc.want == "") || (err != nil && !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}
