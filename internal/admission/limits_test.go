// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"encoding/json"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"

	"weir.dev/api/config"
)

// TestChangedLimits is about a limit that the operator lowers: it holds for what is written from then on, and what is stored is
// not stuck.
func TestChangedLimits(t *testing.T) {
	limit := int32(10)
	s := start(t, func() *config.Config {
		return &config.Config{Autoscaler: &config.Autoscaler{MaxScaleLimit: limit, MaxScale: limit}}
	})
	created, r := s.admit(request(admissionv1.Create, "alice", strings.Replace(hello, `"template":{`,
		`"template":{"metadata":{"annotations":{"autoscaling.knative.dev/max-scale":"10"}},`, 1), ""))
	if !r.Allowed {
		t.Fatalf("it is within the limit: %v", r.Result)
	}
	stored, err := json.Marshal(created)
	if err != nil {
		t.Fatal(err)
	}
	with := func(replace ...string) string { return strings.NewReplacer(replace...).Replace(string(stored)) }
	limit = 5
	tests := map[string]struct {
		reason      string
		object, old string
		want        bool
	}{
		"created":   {"the limit holds", with(), "", false},
		"as it was": {"a label may change, with a warning", with(`"name":"hello"`, `"name":"hello","labels":{"team":"a"}`), with(), true},
		"changed":   {"the limit holds", with(`max-scale":"10"`, `max-scale":"9"`), with(), false},
		"mended":    {"it is within the limit", with(`max-scale":"10"`, `max-scale":"5"`), with(), true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			operation := admissionv1.Update
			if tc.old == "" {
				operation = admissionv1.Create
			}
			_, r := s.admit(request(operation, "alice", tc.object, tc.old))
			if r.Allowed != tc.want {
				t.Errorf("%s: got %+v", tc.reason, r)
			}
			warned := strings.Contains(strings.Join(r.Warnings, " "), "expected 1 <= 10 <= 5")
			if warned != (name == "as it was") {
				t.Errorf("%s: got warnings %q", tc.reason, r.Warnings)
			}
		})
	}
}
