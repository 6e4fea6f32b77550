// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package resourcesemantics_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"weir.dev/pkg/webhook/internal/hooktest"
	"weir.dev/pkg/webhook/resourcesemantics"
)

// limited is a gadget that is looked at for some requests only.
type limited struct {
	hooktest.Gadget
	verbs        []admissionv1.Operation
	subresources []string
}

func (l *limited) SupportedVerbs() []admissionv1.Operation { return l.verbs }
func (l *limited) SupportedSubResources() []string         { return l.subresources }

func TestRules(t *testing.T) {
	kind := func(group, version, kind string) schema.GroupVersionKind {
		return schema.GroupVersionKind{Group: group, Version: version, Kind: kind}
	}
	kinds := resourcesemantics.Kinds{
		kind("b", "v1", "Box"):   &hooktest.Gadget{},
		kind("a", "v2", "Lorry"): &limited{verbs: []admissionv1.Operation{"UPDATE", "CONNECT"}, subresources: []string{"", "scale"}},
		kind("a", "v1", "Lorry"): &hooktest.Gadget{},
		kind("a", "v1", "Ghost"): &limited{verbs: []admissionv1.Operation{"CONNECT"}, subresources: []string{""}},
	}
	all := admissionregistrationv1.AllScopes
	rule := func(group, version string, operations []admissionregistrationv1.OperationType, resources ...string) admissionregistrationv1.RuleWithOperations {
		return admissionregistrationv1.RuleWithOperations{
			Operations: operations,
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{group}, APIVersions: []string{version}, Resources: resources, Scope: &all},
		}
	}
	asked := []admissionregistrationv1.OperationType{"CREATE", "UPDATE"}
	want := []admissionregistrationv1.RuleWithOperations{
		rule("a", "v1", asked, "lorries", "lorries/status"),
		rule("a", "v2", asked[1:], "lorries", "lorries/scale"),
		rule("b", "v1", asked, "boxes", "boxes/status"),
	}
	for range 10 { // in whatever order the map gives them
		if diff := cmp.Diff(want, kinds.Rules(asked...)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	}
}

func TestConcerns(t *testing.T) {
	kind := &limited{verbs: []admissionv1.Operation{"UPDATE"}, subresources: []string{"scale"}}
	tests := map[string]struct {
		reason string
		req    admissionv1.AdmissionRequest
		want   bool
	}{
		"Both":        {"the kind asks for it", admissionv1.AdmissionRequest{Operation: "UPDATE", SubResource: "scale"}, true},
		"Verb":        {"not this operation", admissionv1.AdmissionRequest{Operation: "CREATE", SubResource: "scale"}, false},
		"SubResource": {"not the object itself", admissionv1.AdmissionRequest{Operation: "UPDATE"}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := resourcesemantics.Concerns(kind, &tc.req); got != tc.want {
				t.Errorf("%s: got %v", tc.reason, got)
			}
		})
	}
}
