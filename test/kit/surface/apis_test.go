// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package surface_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/pkg/apis"
)

// A kind has its contracts checked when it is compiled.
var (
	_ apis.Defaultable = (*servingv1.Service)(nil)
	_ apis.Validatable = (*servingv1.Service)(nil)
	_ apis.HasSpec     = (*servingv1.Service)(nil)
	_ apis.Convertible = (*gadget)(nil)
	_ apis.Listable    = (*gadget)(nil)
)

// gadget is a kind as authors write them.
type gadget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec gadgetSpec `json:"spec"`
}

type gadgetSpec struct {
	Size          int    `json:"size,omitempty"`
	Colour        string `json:"colour,omitempty"`
	DeprecatedOld string `json:"old,omitempty"`
}

func (g *gadget) SetDefaults(ctx context.Context) {
	if g.Spec.Size == 0 && !apis.IsInDelete(ctx) {
		g.Spec.Size = 1
	}
}

func (g *gadget) Validate(ctx context.Context) *apis.FieldError {
	var errs *apis.FieldError
	if g.Spec.Size > 10 {
		errs = errs.Also(apis.ErrOutOfBoundsValue(g.Spec.Size, 0, 10, "size"))
	}
	if g.Spec.Colour == "grey" {
		errs = errs.Also(apis.ErrInvalidValue(g.Spec.Colour, "colour", "dull").At(apis.WarningLevel))
	}
	return errs.Also(apis.CheckDeprecated(ctx, &g.Spec)).ViaField("spec")
}

func (g *gadget) ConvertTo(_ context.Context, to apis.Convertible) error {
	to.(*gadget).Spec = g.Spec
	return nil
}
func (g *gadget) ConvertFrom(_ context.Context, from apis.Convertible) error {
	g.Spec = from.(*gadget).Spec
	return nil
}
func (g *gadget) GetUntypedSpec() interface{}     { return g.Spec }
func (g *gadget) GetListType() runtime.Object     { return &metav1.List{} }
func (g *gadget) DeepCopyObject() runtime.Object  { out := *g; return &out }
func (g *gadget) SupportedSubResources() []string { return []string{""} }
func (g *gadget) GetObjectMeta() metav1.Object    { return &g.ObjectMeta }
func (*gadget) GetGroupVersionKind() (gvk schema.GroupVersionKind) {
	return schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Gadget"}
}

// TestContextMarks: a context says what is being done.
func TestContextMarks(t *testing.T) {
	base, request := &gadget{}, httptest.NewRequest(http.MethodPost, "/", nil)
	none := t.Context()
	tests := map[string]struct {
		with func(context.Context) context.Context
		is   func(context.Context) bool
	}{
		"Create":          {apis.WithinCreate, apis.IsInCreate},
		"Update":          {func(ctx context.Context) context.Context { return apis.WithinUpdate(ctx, base) }, apis.IsInUpdate},
		"UpdateBase":      {func(ctx context.Context) context.Context { return apis.WithinUpdate(ctx, base) }, func(ctx context.Context) bool { return apis.GetBaseline(ctx) == base }},
		"SubResource":     {func(ctx context.Context) context.Context { return apis.WithinSubResourceUpdate(ctx, base, "scale") }, func(ctx context.Context) bool { return apis.GetUpdatedSubresource(ctx) == "scale" }},
		"SubResourceBase": {func(ctx context.Context) context.Context { return apis.WithinSubResourceUpdate(ctx, base, "scale") }, func(ctx context.Context) bool { return apis.GetBaseline(ctx) == base }},
		"StatusUpdate":    {func(ctx context.Context) context.Context { return apis.WithinSubResourceUpdate(ctx, base, "status") }, apis.IsInStatusUpdate},
		"Delete":          {apis.WithinDelete, apis.IsInDelete},
		"Spec":            {apis.WithinSpec, apis.IsInSpec},
		"Status":          {apis.WithinStatus, apis.IsInStatus},
		"Parent":          {func(ctx context.Context) context.Context { return apis.WithinParent(ctx, metav1.ObjectMeta{Name: "p"}) }, func(ctx context.Context) bool { return apis.ParentMeta(ctx).Name == "p" }},
		"User": {func(ctx context.Context) context.Context {
			return apis.WithUserInfo(ctx, &authenticationv1.UserInfo{Username: "u"})
		}, func(ctx context.Context) bool { return apis.GetUserInfo(ctx) != nil }},
		"DryRun":     {apis.WithDryRun, apis.IsDryRun},
		"Deprecated": {apis.DisallowDeprecated, func(ctx context.Context) bool { return !apis.IsDeprecatedAllowed(ctx) }},
		"Namespace":  {apis.AllowDifferentNamespace, apis.IsDifferentNamespaceAllowed},
		"Request":    {func(ctx context.Context) context.Context { return apis.WithHTTPRequest(ctx, request) }, func(ctx context.Context) bool { return apis.GetHTTPRequest(ctx) == request }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.is(none) || !tc.is(tc.with(none)) {
				t.Errorf("without the mark: %v, with it: %v", tc.is(none), tc.is(tc.with(none)))
			}
		})
	}
}

func TestURL(t *testing.T) {
	if u, err := apis.ParseURL(""); u != nil || err != nil {
		t.Errorf("no text is no URL: %v, %v", u, err)
	}
	if _, err := apis.ParseURL("http://[bad"); err == nil {
		t.Error("that is no URL")
	}
	u, err := apis.ParseURL("https://example.com/a/b?c=d")
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(u)
	if err != nil || string(text) != `"https://example.com/a/b?c=d"` {
		t.Errorf("in JSON it is %s, %v", text, err)
	}
	var back apis.URL
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(u, &back); d != "" {
		t.Errorf("there and back (-want +got):\n%s", d)
	}
	for got, want := range map[string]string{
		apis.HTTP("a.example.com").String():               "http://a.example.com",
		apis.HTTPS("a.example.com").String():              "https://a.example.com",
		u.ResolveReference(&apis.URL{Path: "x"}).String(): "https://example.com/a/x",
		u.URL().Host: "example.com",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	var none *apis.URL
	if !none.IsEmpty() || !(&apis.URL{}).IsEmpty() || u.IsEmpty() || none.String() != "" {
		t.Error("empty is what says nothing")
	}
}

// TestVolatileTime: times do not count.
func TestVolatileTime(t *testing.T) {
	now := apis.VolatileTime{Inner: metav1.NewTime(time.Unix(1, 0))}
	if !equality.Semantic.DeepEqual(now, apis.VolatileTime{}) {
		t.Error("two statuses that differ in times only need no write")
	}
	if text, err := json.Marshal(now); err != nil || string(text) != `"1970-01-01T00:00:01Z"` {
		t.Errorf("in JSON it is %s, %v", text, err)
	}
}

func TestKindToResource(t *testing.T) {
	for kind, want := range map[string]string{"Gadget": "gadgets", "Ingress": "ingresses", "Policy": "policies"} {
		gvr := apis.KindToResource(schema.GroupVersionKind{Group: "g", Version: "v", Kind: kind})
		if gvr != (schema.GroupVersionResource{Group: "g", Version: "v", Resource: want}) {
			t.Errorf("%s: %v", kind, gvr)
		}
	}
}
