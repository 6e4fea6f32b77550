// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package generic

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clientgotesting "k8s.io/client-go/testing"

	duckv1 "weir.dev/pkg/apis/duck/v1"
)

// TestUpdateStatus says what is sent for a status that was made from an older
// version of the object.
func TestUpdateStatus(t *testing.T) {
	tests := map[string]struct {
		reason   string
		observed int64
		want     []string
	}{
		"Differs": {
			reason:   "the patch holds for the object, of whatever version, and not for another of its name",
			observed: 2,
			want:     []string{`{"metadata":{"uid":"u"},"status":{"observedGeneration":2}}`},
		},
		"IsThere": {
			reason:   "what is stored already is not written",
			observed: 1,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			gvr := schema.GroupVersionResource{Group: "test.weir.dev", Version: "v1", Resource: "things"}
			fake := dynamicfake.NewSimpleDynamicClient(runtime.NewScheme(), &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "test.weir.dev/v1", "kind": "Thing",
				"metadata": map[string]any{"namespace": "ns", "name": "a", "uid": "u", "resourceVersion": "8"},
				"status":   map[string]any{"observedGeneration": int64(1), "unknown": "kept"},
			}})
			c := typedClient[*duckv1.KResource]{dynamic: fake.Resource(gvr).Namespace("ns")}
			o := &duckv1.KResource{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", UID: "u", ResourceVersion: "7"}}
			o.Status.ObservedGeneration = tc.observed
			if _, err := c.UpdateStatus(t.Context(), o, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, a := range fake.Actions() {
				if p, ok := a.(clientgotesting.PatchAction); ok {
					got = append(got, string(p.GetPatch()))
				}
			}
			if d := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("%s: patches (-want +got):\n%s", tc.reason, d)
			}
		})
	}
}
