// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"strings"
	"testing"
)

func TestStrict(t *testing.T) {
	strict := map[string]func(map[string]string) error{
		DefaultsName:   func(d map[string]string) error { _, err := StrictDefaults(d); return err },
		AutoscalerName: func(d map[string]string) error { _, err := StrictAutoscaler(d); return err },
	}
	lenient := map[string]func(map[string]string) error{
		DefaultsName:   func(d map[string]string) error { _, err := NewDefaults(d); return err },
		AutoscalerName: func(d map[string]string) error { _, err := NewAutoscaler(d); return err },
	}
	tests := map[string]struct {
		reason, name, key, value, want string // want "" is no error
	}{
		"negative quantity": {"no pod may have it", DefaultsName, "revision-cpu-limit", "-1", "revision-cpu-limit = -1, must not be negative"},
		"quantity":          {"it is one", DefaultsName, "revision-memory-request", "64Mi", ""},
		"negative timeout":  {"time goes forward", DefaultsName, "revision-idle-timeout-seconds", "-5", "revision-idle-timeout-seconds = -5, must be in 0.."},
		"endless maximum":   {"no duration holds it", DefaultsName, "max-revision-timeout-seconds", "9223372036854775807", "max-revision-timeout-seconds"},
		"name":              {"a container has a DNS label", DefaultsName, "container-name-template", "My_App", `container-name-template gives "My_App", which is no DNS label`},
		"empty name":        {"a container has one", DefaultsName, "init-container-name-template", "", "init-container-name-template gives"},
		"name of a label":   {"Services may have it", DefaultsName, "container-name-template", `{{index .Labels "app"}}`, ""},
		"name of a field":   {"the same in other words", DefaultsName, "container-name-template", `{{.Annotations.app}}`, ""},
		"name of a choice":  {"either makes a name", DefaultsName, "container-name-template", `{{if .Labels.app}}a b{{else}}{{.Name}}{{end}}`, ""},
		"nothing there":     {"a template may fail where there is nothing", DefaultsName, "container-name-template", "{{.DeletionTimestamp.Time}}", "container-name-template"},

		"negative threshold": {"load is not negative", AutoscalerName, "panic-threshold-percentage", "-200", "panic-threshold-percentage = -200, must not be negative"},
		"class":              {"nobody scales by it", AutoscalerName, "pod-autoscaler-class", "vpa.autoscaling.knative.dev", "none of ours"},
		"foreign class":      {"somebody may", AutoscalerName, "pod-autoscaler-class", "keda.example.com", ""},
		"threshold":          {"used as it is", AutoscalerName, "panic-threshold-percentage", "90", ""},
		"negative scale":     {"pods are counted", AutoscalerName, "min-scale", "-1", "min-scale"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			data := map[string]string{tc.key: tc.value}
			err := strict[tc.name](data)
			if (err == nil) != (tc.want == "") || (err != nil && !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.want)
			}
			if lenient := lenient[tc.name](data); err == nil && lenient != nil {
				t.Errorf("what is admitted must be good for those who read it, got %v", lenient)
			}
		})
	}
}

func TestStrictBounds(t *testing.T) {
	_, err := StrictDefaults(data("revision-memory-request=2Gi revision-memory-limit=1Gi"))
	if want := "revision-memory-request (2Gi) cannot be greater than revision-memory-limit (1Gi)"; err == nil || err.Error() != want {
		t.Errorf("a pod that names neither could not be made: got %v, want %q", err, want)
	}
}

func TestStrictOrder(t *testing.T) {
	_, err := StrictDefaults(data("revision-cpu-limit=-1 revision-idle-timeout-seconds=-1 container-name-template=A"))
	want := `container-name-template gives "A", which is no DNS label
revision-cpu-limit = -1, must not be negative
revision-idle-timeout-seconds = -1, must be in 0..2147483647`
	if err == nil || err.Error() != want {
		t.Errorf("all mistakes are told at once, in order: got %v, want %s", err, want)
	}
}
