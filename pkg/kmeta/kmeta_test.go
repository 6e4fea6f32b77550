// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package kmeta

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

func TestChildName(t *testing.T) {
	tests := map[string]struct {
		reason         string
		parent, suffix string
		want           string
	}{
		"short":    {"nothing to do", "asdf", "-deployment", "asdf-deployment"},
		"no more":  {"63 is the limit", strings.Repeat("f", 63), "", strings.Repeat("f", 63)},
		"one over": {"the end becomes a hash of the parent", strings.Repeat("f", 63), "-deployment", "ffffffffffffffffffff105d7597f637e83cc711605ac3ea4957-deployment"},
		"long suffix": {
			"the hash is of both, the suffix is cut", "a-name-that-is-long-enough-to-matter-here", strings.Repeat("s", 40),
			"a-name-that-is-long-enough-to-m" + hash("a-name-that-is-long-enough-to-matter-here"+strings.Repeat("s", 40)),
		},
		"trailing dash": {
			"a name ends with a letter or a digit", "x", strings.Repeat("-", 70),
			"x" + hash("x"+strings.Repeat("-", 70)),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := ChildName(tc.parent, tc.suffix)
			if got != tc.want || len(got) > 63 {
				t.Errorf("%s: got %q (%d), want %q", tc.reason, got, len(got), tc.want)
			}
		})
	}
}

func TestChildNamesDiffer(t *testing.T) {
	a, b := strings.Repeat("a", 62)+"1", strings.Repeat("a", 62)+"2"
	if ChildName(a, "-x") == ChildName(b, "-x") {
		t.Error("different parents must have different children")
	}
}

// owner is a kind that names itself.
type owner struct{ appsv1.Deployment }

func (*owner) GetGroupVersionKind() schema.GroupVersionKind {
	return appsv1.SchemeGroupVersion.WithKind("Deployment")
}

func TestOwner(t *testing.T) {
	o := &owner{appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "d", UID: "u"}}}
	got := NewControllerRef(o)
	if got.APIVersion != "apps/v1" || got.Kind != "Deployment" || got.Name != "d" || got.UID != "u" || !*got.Controller {
		t.Errorf("got %+v", got)
	}
	want := corev1.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "ns", Name: "d"}
	if diff := cmp.Diff(want, ObjectReference(o)); diff != "" {
		t.Errorf("a kind that names itself needs no type metadata:\n%s", diff)
	}
	d := &o.Deployment
	if ref := ObjectReference(d); ref.Kind != "" {
		t.Errorf("others have what their type metadata says, got %+v", ref)
	}
}

func TestDeletionHandlingAccessor(t *testing.T) {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "d"}}
	for _, obj := range []any{d, cache.DeletedFinalStateUnknown{Key: "d", Obj: d}} {
		if got, err := DeletionHandlingAccessor(obj); err != nil || got.GetName() != "d" {
			t.Errorf("%T: got %v, %v", obj, got, err)
		}
	}
	for _, obj := range []any{nil, 5, cache.DeletedFinalStateUnknown{}} {
		if _, err := DeletionHandlingAccessor(obj); err == nil {
			t.Errorf("%T must be an error", obj)
		}
	}
}
