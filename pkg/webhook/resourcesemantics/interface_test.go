// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package resourcesemantics_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"weir.dev/pkg/apis"
	"weir.dev/pkg/ptr"
	"weir.dev/pkg/webhook/internal/hooktest"
	"weir.dev/pkg/webhook/resourcesemantics"
)

func TestContext(t *testing.T) {
	type marks struct {
		Create, Update, Delete, DryRun bool
		SubResource                    string
		Baseline                       bool
	}
	tests := map[string]struct {
		reason string
		req    admissionv1.AdmissionRequest
		want   marks
	}{
		"Create":  {"there is nothing stored", admissionv1.AdmissionRequest{Operation: "CREATE"}, marks{Create: true}},
		"Update":  {"the stored object is known", admissionv1.AdmissionRequest{Operation: "UPDATE"}, marks{Update: true, Baseline: true}},
		"Status":  {"so is the part that is updated", admissionv1.AdmissionRequest{Operation: "UPDATE", SubResource: "status"}, marks{Update: true, Baseline: true, SubResource: "status"}},
		"Delete":  {"it is on its way out", admissionv1.AdmissionRequest{Operation: "DELETE"}, marks{Delete: true}},
		"Connect": {"nothing is stored", admissionv1.AdmissionRequest{Operation: "CONNECT"}, marks{}},
		"DryRun":  {"nor here", admissionv1.AdmissionRequest{Operation: "CREATE", DryRun: ptr.Bool(true)}, marks{Create: true, DryRun: true}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.req.UserInfo = authenticationv1.UserInfo{Username: "alice"}
			ctx := resourcesemantics.Context(t.Context(), &tc.req, &hooktest.Gadget{})
			got := marks{
				Create: apis.IsInCreate(ctx), Update: apis.IsInUpdate(ctx), Delete: apis.IsInDelete(ctx), DryRun: apis.IsDryRun(ctx),
				SubResource: apis.GetUpdatedSubresource(ctx), Baseline: apis.GetBaseline(ctx) != nil,
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if apis.GetUserInfo(ctx).Username != "alice" {
				t.Error("who asks is known")
			}
		})
	}
}

func TestDecode(t *testing.T) {
	tests := map[string]struct {
		reason  string
		raw     string
		strict  bool
		want    string // the size; "nil" for no object
		wantErr bool
	}{
		"Object":  {"it is read", `{"spec":{"size":"big"}}`, true, "big", false},
		"None":    {"a creation has no old object", "", true, "nil", false},
		"Unknown": {"a field may be newer than we are", `{"spec":{"colour":"red"}}`, false, "", false},
		"Strict":  {"or not, if the caller says so", `{"spec":{"colour":"red"}}`, true, "", true},
		"Junk":    {"it is no object", `[`, false, "", true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			kind := &hooktest.Gadget{}
			got, err := resourcesemantics.Decode(kind, []byte(tc.raw), tc.strict)
			if (err != nil) != tc.wantErr {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if err != nil {
				return
			}
			if got == nil {
				if tc.want != "nil" {
					t.Errorf("%s: got no object", tc.reason)
				}
				return
			}
			if size := got.(*hooktest.Gadget).Spec.Size; size != tc.want || kind.Spec.Size != "" {
				t.Errorf("%s: got %q, and the kind itself %q", tc.reason, size, kind.Spec.Size)
			}
		})
	}
}

func FuzzCallback(f *testing.F) {
	f.Add([]byte(`{"metadata":{"name":"x"}}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		called := false
		callback := resourcesemantics.NewCallback(func(_ context.Context, obj *unstructured.Unstructured) error {
			called = true
			_, _ = obj.GetName(), obj.GetLabels() // whatever it holds, asking is no harm
			return nil
		}, "CREATE")
		obj, err := callback.Call(t.Context(), &admissionv1.AdmissionRequest{Operation: "CREATE"}, raw)
		if called != (err == nil) || called != (obj != nil) {
			t.Fatalf("called %v with %v: %v", called, obj, err)
		}
	})
}
