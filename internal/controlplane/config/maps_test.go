// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"reflect"
	"strings"
	"testing"

	"weir.dev/internal/controlplane/config/keys"
)

// other has, for every key that has an effect, a good value that is not its default, and a bad one.
var other = map[string]map[string][2]string{
	DefaultsName: {
		"revision-timeout-seconds":                {"200", "601"},
		"max-revision-timeout-seconds":            {"900", "-1"},
		"revision-response-start-timeout-seconds": {"5", "301"},
		"revision-idle-timeout-seconds":           {"5", "301"},
		"revision-cpu-request":                    {"1m", "-1m"},
		"revision-memory-request":                 {"1Mi", "much"},
		"revision-ephemeral-storage-request":      {"1Mi", "-1"},
		"revision-cpu-limit":                      {"1", "-1"},
		"revision-memory-limit":                   {"1Gi", "1 Gi"},
		"revision-ephemeral-storage-limit":        {"1Gi", ""},
		"container-name-template":                 {"main", "My_App"},
		"init-container-name-template":            {"{{.Name}}", "{{.Nope}}"},
		"container-concurrency":                   {"5", "1001"},
		"container-concurrency-max-limit":         {"5", "0"},
		"allow-container-concurrency-zero":        {"false", "no"},
		"enable-service-links":                    {"default", "maybe"},
	},
	DeploymentName: {
		"registries-skipping-tag-resolving": {"reg.example", ""},
		"digest-resolution-timeout":         {"5s", "0s"},
		"progress-deadline":                 {"30s", "1500ms"},
		"default-affinity-type":             {"none", "together"},
		"runtime-class-name":                {"gvisor: {}", "gvisor"},
		"pod-is-always-schedulable":         {"true", "always"},
	},
	GCName: {
		"retain-since-create-time":      {"disabled", "-1h"},
		"retain-since-last-active-time": {"1h", "off"},
		"min-non-active-revisions":      {"0", "1001"},
		"max-non-active-revisions":      {"20", "19"},
	},
	AutoscalerName: {
		"pod-autoscaler-class":                    {"keda.example.com", "vpa.autoscaling.knative.dev"},
		"enable-scale-to-zero":                    {"false", "no"},
		"allow-zero-initial-scale":                {"true", "yes"},
		"initial-scale":                           {"2", "0"},
		"min-scale":                               {"2", "-1"},
		"max-scale":                               {"2", "99999999999"},
		"max-scale-limit":                         {"0", "2"}, // with a maximum only, see TestAcrossKeys
		"container-concurrency-target-percentage": {"50", "101"},
		"container-concurrency-target-default":    {"50", "0.001"},
		"requests-per-second-target-default":      {"50", "0"},
		"max-scale-up-rate":                       {"10", "1"},
		"max-scale-down-rate":                     {"10", "NaN"},
		"stable-window":                           {"6s", "5s"},
		"panic-window-percentage":                 {"20", "0.5"},
		"panic-threshold-percentage":              {"150", "-200"},
		"scale-to-zero-grace-period":              {"5s", "0s"},
		"scale-to-zero-pod-retention-period":      {"5s", "-5s"},
		"scale-down-delay":                        {"5s", "1500ms"},
	},
	NetworkName: {
		"ingress-class":           {"other.example.com", ""},
		"domain-template":         {"{{.Name}}--{{.Namespace}}.{{.Domain}}", "{{.Name}}/x"},
		"tag-template":            {"{{.Name}}-{{.Tag}}", "{{.Tag}}"},
		"http-protocol":           {"Redirected", "maybe"},
		"rollout-duration":        {"30", "-1"},
		"default-external-scheme": {"HTTPS", "gopher"},
		"external-http-port":      {"8080", "70000"},
	},
	FeaturesName:      {"secure-pod-defaults": {"allowRootBounded", "Allowed"}}, // the others are alike
	DomainName:        {"<domain>": {"selector: {app: x}", "selectors: {app: x}"}},
	ObservabilityName: {"logging.revision-url-template": {"http://logs/${REVISION_UID}", ""}},
	LoggingName: {
		"zap-logger-config":   {`{"level":"debug","encoding":"console"}`, `{"encoding":"json"}`},
		"loglevel.controller": {"debug", "loud"},
	},
	LeaderElectionName: {
		"lease-duration":                     {"60s", "5s"},
		"renew-deadline":                     {"7s", "1s"},
		"retry-period":                       {"2s", "0s"},
		"buckets":                            {"10", "11"},
		"map-lease-prefix.<component.queue>": {"x", ""},
	},
}

// free are keys whose every text is a value.
var free = map[string]bool{
	"registries-skipping-tag-resolving": true, "logging.revision-url-template": true, "map-lease-prefix.<component.queue>": true,
}

func set(m keys.Map, k keys.Key, spelling, value string) (any, error) {
	spelling = strings.NewReplacer("<domain>", "example.com", "<", "", ">", "").Replace(spelling)
	out := reflect.ValueOf(Constructors()[m.Name]).Call([]reflect.Value{reflect.ValueOf(cm(m.Name, map[string]string{spelling: value}))})
	err, _ := out[1].Interface().(error)
	return out[0].Interface(), err
}

// TestEveryKey goes through the list of keys: defaults are those of the code, other values are read, bad ones are refused, and
// all that under every spelling.
func TestEveryKey(t *testing.T) {
	for _, m := range keys.All() {
		none, err := set(m, keys.Key{}, "_", "")
		if err != nil {
			t.Fatalf("%s: every key has a default, got %v", m.Name, err)
		}
		for _, k := range m.Keys {
			for _, spelling := range append([]string{k.Name}, k.Old...) {
				t.Run(m.Name+"/"+spelling, func(t *testing.T) { testKey(t, m, k, spelling, none) })
			}
		}
	}
}

func testKey(t *testing.T, m keys.Map, k keys.Key, spelling string, none any) {
	if k.Default != "" {
		if got, err := set(m, k, spelling, k.Default); err != nil || !reflect.DeepEqual(got, none) {
			t.Errorf("%q is not the default, or refused: %v", k.Default, err)
		}
	}
	if k.Idle {
		return
	}
	values, ok := other[m.Name][k.Name]
	if m.Name == FeaturesName && !ok {
		values, ok = [2]string{"allowed", "maybe"}, true
	}
	if !ok {
		t.Fatal("the test has no values for it")
	}
	got, err := set(m, k, spelling, values[0])
	if err != nil {
		t.Errorf("%q is good, got %v", values[0], err)
	}
	if reflect.DeepEqual(got, none) && values[0] != k.Default {
		t.Errorf("%q changes nothing: nobody reads it", values[0])
	}
	if _, err := set(m, k, spelling, values[1]); (err == nil) != free[k.Name] {
		t.Errorf("%q must be refused", values[1])
	}
}

// TestAcrossKeys is about values that are good alone.
func TestAcrossKeys(t *testing.T) {
	tests := map[string]struct {
		reason, name string
		data         map[string]string
		want         string // part of the refusal; "" for none
	}{
		"scales":           {"nothing satisfies both", AutoscalerName, map[string]string{"min-scale": "3", "max-scale": "2"}, "min-scale (3) must be less than max-scale (2)"},
		"scales alike":     {"one count", AutoscalerName, map[string]string{"min-scale": "2", "max-scale": "2"}, ""},
		"scale limit":      {"every Revision without a maximum would break it", AutoscalerName, map[string]string{"max-scale-limit": "5", "max-scale": "6"}, "max-scale = 6, must be in [1, 5]"},
		"in the limit":     {"it holds", AutoscalerName, map[string]string{"max-scale-limit": "5", "max-scale": "5"}, ""},
		"initial zero":     {"it is allowed", AutoscalerName, map[string]string{"initial-scale": "0", "allow-zero-initial-scale": "true"}, ""},
		"target":           {"no goal is left", AutoscalerName, map[string]string{"container-concurrency-target-percentage": "2", "container-concurrency-target-default": "0.4"}, "yield a target below 0.01"},
		"timeouts":         {"the maximum goes along", DefaultsName, map[string]string{"revision-timeout-seconds": "900", "max-revision-timeout-seconds": "900"}, ""},
		"response start":   {"it is part of the timeout", DefaultsName, map[string]string{"revision-timeout-seconds": "100", "revision-response-start-timeout-seconds": "101"}, "cannot be greater than revision-timeout-seconds (100)"},
		"concurrency":      {"its own limit", DefaultsName, map[string]string{"container-concurrency": "6", "container-concurrency-max-limit": "5"}, "must be in 0..5"},
		"request, limit":   {"no pod could be made", DefaultsName, map[string]string{"revision-cpu-request": "2", "revision-cpu-limit": "1"}, "cannot be greater than revision-cpu-limit (1)"},
		"revisions":        {"they contradict each other", GCName, map[string]string{"min-non-active-revisions": "5", "max-non-active-revisions": "4"}, "min-non-active-revisions (5) must be at most max-non-active-revisions (4)"},
		"least, no most":   {"there is no bound", GCName, map[string]string{"min-non-active-revisions": "5000", "max-non-active-revisions": "Disabled"}, ""},
		"leases":           {"it would be lost before it is renewed", LeaderElectionName, map[string]string{"lease-duration": "10s", "renew-deadline": "10s"}, "lease-duration must be longer"},
		"Knative's leases": {"its defaults are good", LeaderElectionName, map[string]string{"lease-duration": "60s", "renew-deadline": "40s", "retry-period": "10s"}, ""},
		"metrics":          {"they go nowhere", ObservabilityName, map[string]string{"metrics-protocol": "grpc"}, "metrics-endpoint"},
		"both spellings":   {"the old one is judged, too", NetworkName, map[string]string{"http-protocol": "enabled", "httpProtocol": "maybe"}, `httpProtocol = "maybe"`},
		"runtime class":    {"it would take in all pods", DeploymentName, map[string]string{"runtime-class-name": "gvisor: {selectors: {a: b}}"}, "runtime-class-name"},
		"class name":       {"there is none of that name", DeploymentName, map[string]string{"runtime-class-name": "g_visor: {}"}, "runtime-class-name"},
		"class selector":   {"no pod has such a label", DeploymentName, map[string]string{"runtime-class-name": "gvisor: {selector: {a: b c}}"}, "runtime-class-name"},
		"endless deadline": {"a Deployment counts in 32 bits", DeploymentName, map[string]string{"progress-deadline": "1000000h"}, "progress-deadline"},
		"domain type":      {"there is one", DomainName, map[string]string{"example.com": "type: tame"}, `domain "example.com": type "tame"`},
		"wildcard":         {"that one", DomainName, map[string]string{"example.com": "type: wildcard"}, ""},
		"two domains":      {"all mistakes at once", DomainName, map[string]string{"a_b.com": "", "c_d.com": ""}, `ConfigMap config-domain: domain "c_d.com"`},
		"zap level":        {"a logger has one", LoggingName, map[string]string{"zap-logger-config": `{"level":"loud","encoding":"json"}`}, "zap-logger-config"},
		"zap encoding":     {"nobody writes it", LoggingName, map[string]string{"zap-logger-config": `{"level":"info","encoding":"xml"}`}, "zap-logger-config"},
		"zap elsewhere":    {"trying it must write no file", LoggingName, map[string]string{"zap-logger-config": `{"level":"info","encoding":"json","outputPaths":["/nowhere/x"]}`}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := admit(t, cm(tc.name, tc.data))
			if (err == nil) != (tc.want == "") || (err != nil && !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}

// TestListed: every ConfigMap has both its keys and its parsers.
func TestListed(t *testing.T) {
	known := all()
	for _, m := range keys.All() {
		if known[m.Name].admitted == nil {
			t.Errorf("%s: nobody reads it", m.Name)
		}
		delete(known, m.Name)
	}
	for name := range known {
		t.Errorf("%s: its keys are not listed", name)
	}
}

func TestWarnings(t *testing.T) {
	if got := Warnings(cm(GCName, map[string]string{"min-non-active-revision": "1"})); len(got) != 1 || !strings.Contains(got[0], "did you mean") {
		t.Errorf("an unknown key is no silence, got %q", got)
	}
	for _, name := range []string{"config-tracing", "config-certmanager"} {
		if got := Warnings(cm(name, nil)); len(got) != 1 || !strings.Contains(got[0], "is not read") {
			t.Errorf("somebody may believe in %s, got %q", name, got)
		}
	}
	if got := Warnings(cm("config-other", map[string]string{"x": "y"})); got != nil {
		t.Errorf("other ConfigMaps are other people's, got %q", got)
	}
}
