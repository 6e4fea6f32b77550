// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package apis

import (
	"context"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestValidateObjectMetadata(t *testing.T) {
	tests := map[string]struct {
		reason string
		meta   metav1.ObjectMeta
		want   string // part of the error; "" for none
	}{
		"name":           {"a DNS-1035 label", metav1.ObjectMeta{Name: "hello-1"}, ""},
		"generate name":  {"the API server adds the rest", metav1.ObjectMeta{GenerateName: "hello-"}, ""},
		"neither":        {"an object has a name", metav1.ObjectMeta{}, "name or generateName is required: name"},
		"dots":           {"labels have none", metav1.ObjectMeta{Name: "a.b"}, "not a DNS 1035 label: "},
		"digit first":    {"k8s Services may not", metav1.ObjectMeta{Name: "1a"}, "not a DNS 1035 label: "},
		"too long":       {"63 is the limit", metav1.ObjectMeta{Name: strings.Repeat("a", 64)}, "must be no more than 63 characters"},
		"generate dots":  {"the prefix follows the same rules", metav1.ObjectMeta{GenerateName: "a.b-"}, "not a DNS 1035 label prefix: "},
		"path at prefix": {"the field is named", metav1.ObjectMeta{GenerateName: "A"}, ": generateName"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := ValidateObjectMetadata(&tc.meta)
			if (got == nil) != (tc.want == "") || !strings.Contains(got.Error(), tc.want) {
				t.Errorf("%s: got %q, want %q in it", tc.reason, got.Error(), tc.want)
			}
		})
	}
}

func TestValidateCreatorAndModifier(t *testing.T) {
	anns := func(creator, modifier string) map[string]string {
		return map[string]string{"g/creator": creator, "g/lastModifier": modifier}
	}
	tests := map[string]struct {
		reason           string
		oldSpec, newSpec string
		oldAnns, newAnns map[string]string
		want             string
	}{
		"same":                   {"nothing happened", "a", "a", anns("x", "x"), anns("x", "x"), ""},
		"modifier with spec":     {"a change has an author", "a", "b", anns("x", "x"), anns("x", "y"), ""},
		"modifier without spec":  {"nobody claims what they did not change", "a", "a", anns("x", "x"), anns("x", "y"), "invalid value: y: g/lastModifier"},
		"creator":                {"it was who it was", "a", "b", anns("x", "x"), anns("y", "x"), "annotation value is immutable: g/creator"},
		"creator taken away":     {"that is a change too", "a", "b", anns("x", "x"), nil, "annotation value is immutable: g/creator"},
		"creator of an old kind": {"from before there was one", "a", "b", nil, nil, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := ValidateCreatorAndModifier(tc.oldSpec, tc.newSpec, tc.oldAnns, tc.newAnns, "g")
			if got.Error() != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got.Error(), tc.want)
			}
		})
	}
}

func TestCheckDisallowedFields(t *testing.T) {
	type port struct {
		Name     string `json:"name"`
		HostPort int    `json:"hostPort"`
		hidden   int
	}
	if got := CheckDisallowedFields(port{"a", 1, 2}, port{Name: "a"}); got.Error() != "must not set the field(s): hostPort" {
		t.Errorf("got %q", got.Error())
	}
	if got := CheckDisallowedFields(port{Name: "a"}, port{Name: "a"}); got != nil {
		t.Errorf("got %q", got.Error())
	}
	if got := CheckDisallowedFields(port{}, 1); !strings.Contains(got.Error(), "internal error") {
		t.Errorf("different types are a mistake of the caller, got %v", got)
	}
}

func TestCheckDeprecated(t *testing.T) {
	type inner struct {
		DeprecatedOld string `json:"old"`
	}
	type outer struct {
		Inner         *inner `json:"inner"`
		DeprecatedBig int    `json:"big"`
	}
	obj := outer{Inner: &inner{"x"}, DeprecatedBig: 1}
	if got := CheckDeprecated(context.Background(), obj); got != nil {
		t.Errorf("deprecated fields are accepted by default, got %q", got.Error())
	}
	got := CheckDeprecated(DisallowDeprecated(context.Background()), obj)
	if want := "must not set the field(s): big, inner.old"; got.Error() != want {
		t.Errorf("got %q, want %q", got.Error(), want)
	}
}

func TestKindToResource(t *testing.T) {
	for kind, want := range map[string]string{
		"Service": "services", "Ingress": "ingresses", "PodAutoscaler": "podautoscalers",
		"Policy": "policies", "Gateway": "gateways", "Box": "boxes",
	} {
		if got := KindToResource(schema.GroupVersionKind{Kind: kind}).Resource; got != want {
			t.Errorf("%s: got %s, want %s", kind, got, want)
		}
	}
}

func TestContextMarks(t *testing.T) {
	ctx := context.Background()
	if IsInCreate(ctx) || IsInUpdate(ctx) || IsInDelete(ctx) || IsInStatusUpdate(ctx) || IsDryRun(ctx) ||
		IsInSpec(ctx) || IsInStatus(ctx) || IsDifferentNamespaceAllowed(ctx) || !IsDeprecatedAllowed(ctx) ||
		GetBaseline(ctx) != nil || GetUserInfo(ctx) != nil || GetHTTPRequest(ctx) != nil || ParentMeta(ctx).Name != "" {
		t.Error("a plain context has no mark")
	}
	if ctx := WithinUpdate(ctx, 7); !IsInUpdate(ctx) || GetBaseline(ctx) != 7 || IsInStatusUpdate(ctx) {
		t.Error("update")
	}
	if ctx := WithinSubResourceUpdate(ctx, 7, "status"); !IsInUpdate(ctx) || !IsInStatusUpdate(ctx) || GetBaseline(ctx) != 7 {
		t.Error("status update")
	}
	if ctx := WithinParent(ctx, metav1.ObjectMeta{Name: "p"}); ParentMeta(ctx).Name != "p" {
		t.Error("parent")
	}
	if !IsInCreate(WithinCreate(ctx)) || !IsInDelete(WithinDelete(ctx)) || !IsDryRun(WithDryRun(ctx)) {
		t.Error("operations")
	}
}
