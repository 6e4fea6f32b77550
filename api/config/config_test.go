// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestErrors(t *testing.T) {
	parse := map[string]func(map[string]string) error{
		DefaultsName:   func(d map[string]string) error { _, err := NewDefaults(d); return err },
		FeaturesName:   func(d map[string]string) error { _, err := NewFeatures(d); return err },
		AutoscalerName: func(d map[string]string) error { _, err := NewAutoscaler(d); return err },
	}
	tests := map[string]struct {
		reason, name, data, want string // data as key=value words; want "" is no error
	}{
		"defaults empty":       {"every key has a default", DefaultsName, "", ""},
		"timeout over maximum": {"nobody could keep it", DefaultsName, "revision-timeout-seconds=601", "revision-timeout-seconds (601) cannot be greater than max-revision-timeout-seconds (600)"},
		"both raised":          {"the maximum goes along", DefaultsName, "revision-timeout-seconds=601 max-revision-timeout-seconds=700", ""},
		"response start":       {"it is a part of the timeout", DefaultsName, "revision-response-start-timeout-seconds=301", "cannot be greater"},
		"idle":                 {"it is a part of the timeout", DefaultsName, "revision-idle-timeout-seconds=301", "cannot be greater"},
		"concurrency":          {"bounded", DefaultsName, "container-concurrency=1001", "container-concurrency = 1001, must be in 0..1000"},
		"concurrency limit":    {"at least one", DefaultsName, "container-concurrency-max-limit=0", "must be at least 1"},
		"template":             {"found before a Service meets it", DefaultsName, "container-name-template={{.Nope}}", "container-name-template"},
		"quantity":             {"no guess", DefaultsName, "revision-cpu-request=much", "revision-cpu-request"},
		"number":               {"no guess", DefaultsName, "revision-timeout-seconds=soon", "revision-timeout-seconds"},
		"feature":              {"an unknown value leaves the default", FeaturesName, "multi-container=maybe", ""},
		"autoscaler empty":     {"every key has a default", AutoscalerName, "", ""},
		"initial zero":         {"needs permission", AutoscalerName, "initial-scale=0", "initial-scale = 0, must be at least 1"},
		"initial zero allowed": {"has it", AutoscalerName, "initial-scale=0 allow-zero-initial-scale=true", ""},
		"min over max":         {"nothing satisfies both", AutoscalerName, "min-scale=3 max-scale=2", "min-scale (3)"},
		"limit without max":    {"unlimited is over the limit", AutoscalerName, "max-scale-limit=5", "max-scale = 0, must be in [1, 5]"},
		"limit":                {"in it", AutoscalerName, "max-scale-limit=5 max-scale=5", ""},
		"percentage":           {"above zero", AutoscalerName, "container-concurrency-target-percentage=0", "must be in (0, 100]"},
		"tiny target":          {"no goal", AutoscalerName, "container-concurrency-target-default=0.001", "below 0.01"},
		"burst":                {"-1 is the only negative", AutoscalerName, "target-burst-capacity=-2", "target-burst-capacity"},
		"rates":                {"1 would go nowhere", AutoscalerName, "max-scale-up-rate=1 max-scale-down-rate=1", "max-scale-up-rate"},
		"window":               {"bounded", AutoscalerName, "stable-window=5s", "stable-window = 5s"},
		"window precision":     {"buckets are seconds", AutoscalerName, "stable-window=60500ms", "stable-window"},
		"grace":                {"above zero", AutoscalerName, "scale-to-zero-grace-period=0s", "scale-to-zero-grace-period"},
		"delay":                {"whole seconds", AutoscalerName, "scale-down-delay=1500ms", "scale-down-delay"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := parse[tc.name](data(tc.data))
			if (err == nil) != (tc.want == "") || (err != nil && !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}

func data(words string) map[string]string {
	out := map[string]string{}
	for _, word := range strings.Fields(words) {
		k, v, _ := strings.Cut(word, "=")
		out[k] = v
	}
	return out
}

func TestFeatures(t *testing.T) {
	f, err := NewFeatures(data("multi-container=DISABLED kubernetes.podspec-affinity=allowed secure-pod-defaults=allowrootbounded"))
	if err != nil {
		t.Fatal(err)
	}
	if f.MultiContainer != Disabled || f.PodSpecAffinity != Allowed || f.SecurePodDefaults != AllowRootBounded ||
		f.PodSpecVolumesEmptyDir != Enabled || f.PodSpecHostPID != Disabled {
		t.Errorf("got %+v", f)
	}
}

func TestPercentage(t *testing.T) {
	for text, want := range map[string]float64{"70": 0.7, "0.7": 0.7, "100": 1, "1": 1} {
		a, err := NewAutoscaler(data("container-concurrency-target-percentage=" + text))
		if err != nil || a.ContainerConcurrencyTargetFraction != want {
			t.Errorf("%s: got %v, %v", text, a, err)
		}
	}
}

func TestTagName(t *testing.T) {
	tests := map[string]struct {
		reason, key, template, tag, want string
	}{
		"default":      {"the tag goes before", "", "", "blue", "blue-app"},
		"no tag":       {"the Route's own name", "tag-template", "{{.Name}}-{{.Tag}}", "", "app"},
		"template":     {"the operator decides", "tag-template", "{{.Name}}-{{.Tag}}", "blue", "app-blue"},
		"old spelling": {"it is read, too", "tagTemplate", "{{.Name}}{{.Tag}}", "blue", "appblue"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			n, err := NewNetwork(map[string]string{tc.key: tc.template})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := n.TagName(tc.tag, "app"); err != nil || got != tc.want {
				t.Errorf("%s: got %q, %v, want %q", tc.reason, got, err, tc.want)
			}
		})
	}
	if _, err := NewNetwork(data("tag-template={{.Tag")); err == nil || !strings.Contains(err.Error(), "tag-template") {
		t.Errorf("want the key's name, got %v", err)
	}
	if n, err := NewNetwork(data("tag-template={{.Nope}}")); err != nil {
		t.Error(err)
	} else if _, err := n.TagName("blue", "app"); err == nil {
		t.Error("a template that cannot be expanded must say so")
	}
}

func TestContainerNames(t *testing.T) {
	meta := metav1.ObjectMeta{Name: "hello"}
	d, err := NewDefaults(data("container-name-template={{.Name}}-c init-container-name-template=i-{{.Name}}"))
	if err != nil {
		t.Fatal(err)
	}
	if d.ContainerName(meta) != "hello-c" || d.InitContainerName(meta) != "i-hello" {
		t.Error("names come from the templates")
	}
	if (&Defaults{}).ContainerName(meta) != "user-container" {
		t.Error("a container has a name in any case")
	}
}

func TestContext(t *testing.T) {
	ctx := ToContext(context.Background(), &Config{Defaults: &Defaults{RevisionTimeoutSeconds: 5}})
	got := FromContextOrDefaults(ctx)
	if got.Defaults.RevisionTimeoutSeconds != 5 || got.Features == nil || got.Autoscaler == nil || got.Network == nil {
		t.Error("parts that are not given are defaults")
	}
	empty, err := NewDefaults(nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(empty, FromContextOrDefaults(context.Background()).Defaults); diff != "" {
		t.Errorf("no context is an empty ConfigMap:\n%s", diff)
	}
}
