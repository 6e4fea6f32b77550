// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package keys

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func named(t *testing.T, name string) Map {
	t.Helper()
	for _, m := range All() {
		if m.Name == name {
			return m
		}
	}
	t.Fatalf("there is no ConfigMap %s", name)
	return Map{}
}

// TestTables: the tables are complete, and each default is a value of its key's type.
func TestTables(t *testing.T) {
	names := []string{}
	for _, m := range All() {
		names = append(names, m.Name)
		spellings := map[string]bool{}
		for _, k := range m.Keys {
			if k.Type.check == nil || k.Effect == "" || (k.Default != "" && k.Note != "") {
				t.Errorf("%s: %s: lacks a type or an effect, or has two defaults", m.Name, k.Name)
			}
			if err := k.Type.check(k.Default); err != nil && k.Default != "" {
				t.Errorf("%s: the default of %s is no value: must be %v", m.Name, k.Name, err)
			}
			for _, s := range append([]string{k.Name}, k.Old...) {
				if spellings[s] {
					t.Errorf("%s: %s is there twice", m.Name, s)
				}
				spellings[s] = true
			}
			for _, warning := range m.Warnings(map[string]string{strings.NewReplacer("<", "", ">", "").Replace(k.Name): ""}) {
				if len(warning) > 120 || !k.Idle {
					t.Errorf("%s: want a warning of at most 120 characters, of idle keys only: %q", m.Name, warning)
				}
			}
		}
	}
	if !slices.IsSorted(names) {
		t.Errorf("ConfigMaps are in the order of their names, got %v", names)
	}
}

func TestTypes(t *testing.T) {
	tests := map[string]struct {
		t         Type
		good, bad []string
	}{
		"bool":     {boolean, []string{"true", "false", "True"}, []string{"", "yes", "enabled"}},
		"integer":  {integer, []string{"0", "-1"}, []string{"", "1.5", "1e3", "many"}},
		"seconds":  {seconds, []string{"30"}, []string{"30s", "9999999999"}},
		"number":   {number, []string{"0.7", "70"}, []string{"NaN", "Inf", "-Inf", "1e999", ""}},
		"duration": {duration, []string{"90s", "1h30m"}, []string{"90", "soon"}},
		"quantity": {quantity, []string{"100m", "1Gi"}, []string{"much"}},
		"template": {tmpl, []string{"x", "{{.Name}}"}, []string{"{{.Name"}},
		"name":     {name, []string{"a"}, []string{"", "  "}},
		"JSON":     {object, []string{"", `{"a":1}`}, []string{"[", "[]"}},
		"YAML":     {yamlMap, []string{"", "a: {}"}, []string{"a", "- a", "a: [", "a: 1\na: 2"}},
		"selector": {selector, []string{"", "matchLabels: {a: b}"}, []string{"matchLabel: {a: b}", "matchLabels: {a: b c}", "matchExpressions: [{key: a, operator: Like}]"}},
		"onOff":    {onOff, []string{"Enabled", "DISABLED", " enabled\n", ""}, []string{"true", "maybe"}},
		"flag":     {feature, []string{"Enabled", "allowed", "disabled\n"}, []string{"", "maybe", "AllowRootBounded"}},
		"ages":     {ages, []string{"48h", "Disabled"}, []string{"-", "off"}},
		"limit":    {limit, []string{"5", "disabled"}, []string{"5h", ""}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for _, v := range tc.good {
				if err := tc.t.check(v); err != nil {
					t.Errorf("%q is one: must be %v", v, err)
				}
			}
			for _, v := range tc.bad {
				if tc.t.check(v) == nil {
					t.Errorf("%q is none", v)
				}
			}
		})
	}
}

func TestCheck(t *testing.T) {
	tests := map[string]struct {
		reason, in string
		data       map[string]string
		want       string
	}{
		"nothing":           {"every key has a default", "config-network", nil, ""},
		"old spelling":      {"it is read, too", "config-network", map[string]string{"autocreateClusterDomainClaims": "maybe"}, `autocreateClusterDomainClaims = "maybe", must be true or false`},
		"overridden":        {"it counts once the other is removed", "config-deployment", map[string]string{"progressDeadline": "1", "progress-deadline": "1s"}, `progressDeadline = "1", must be a duration such as "90s"`},
		"idle":              {"it may have an effect elsewhere, or later", "config-features", map[string]string{"queueproxy.mount-podinfo": "maybe"}, `queueproxy.mount-podinfo = "maybe", must be one of Enabled, Allowed, Disabled`},
		"unknown":           {"a warning will do", "config-gc", map[string]string{"x": "y"}, ""},
		"example":           {"it is not read", "config-logging", map[string]string{"_example": "x"}, ""},
		"level":             {"of any component", "config-logging", map[string]string{"loglevel.activator": "loud"}, `loglevel.activator = "loud", must be one of debug, info, warn, error, dpanic, panic, fatal`},
		"several, in order": {"all at once", "config-gc", map[string]string{"min-non-active-revisions": "b", "max-non-active-revisions": "a"}, `max-non-active-revisions = "a", must be a whole number, or disabled` + "\n" + `min-non-active-revisions = "b", must be a whole number`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := named(t, tc.in).Check(tc.data); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	tests := map[string]struct {
		reason, in, key string
		want            string // "" is none
	}{
		"good":        {"it does something", "config-gc", "min-non-active-revisions", ""},
		"example":     {"it is for people", "config-gc", "_example", ""},
		"idle":        {"somebody may believe in it", "config-deployment", "queue-sidecar-image", `"queue-sidecar-image" has no effect: there is no sidecar`},
		"idle, old":   {"by the name that was written", "config-deployment", "queueSidecarImage", `"queueSidecarImage" has no effect: there is no sidecar`},
		"misspelt":    {"what was meant", "config-autoscaler", "enable-scale-to-zeros", `unknown key "enable-scale-to-zeros" has no effect, did you mean "enable-scale-to-zero"?`},
		"other style": {"what was meant", "config-network", "rollout_Duration", `unknown key "rollout_Duration" has no effect, did you mean "rollout-duration"?`},
		"misplaced":   {"where it belongs", "config-defaults", "scale-down-delay", `unknown key "scale-down-delay" has no effect: it is a key of config-autoscaler`},
		"like none":   {"no guess", "config-defaults", "colour", `unknown key "colour" has no effect`},
		"domain":      {"every key is one", "config-domain", "colour", ""},
		"level":       {"it is the controller's", "config-logging", "loglevel.autoscaler", `"loglevel.autoscaler" has no effect: autoscaler and webhook are in the controller`},
		"lease":       {"its name is the user's", "config-leader-election", "map-lease-prefix.a.b", ""},
		"bare prefix": {"it names nothing", "config-leader-election", "map-lease-prefix.", `unknown key "map-lease-prefix." has no effect`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var want []string
			if tc.want != "" {
				want = []string{tc.in + ": " + tc.want}
			}
			if diff := cmp.Diff(want, named(t, tc.in).Warnings(map[string]string{tc.key: "x"})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	both := named(t, "config-network").Warnings(map[string]string{"ingress.class": "a", "ingress-class": "b"})
	if want := []string{`config-network: "ingress.class" has no effect beside "ingress-class"`}; !cmp.Equal(want, both) {
		t.Errorf("the old spelling is overridden: got %q, want %q", both, want)
	}
}
