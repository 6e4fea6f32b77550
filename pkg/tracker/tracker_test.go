// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package tracker

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

func pod(name string, labels map[string]string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: labels}}
}

func ref(name string) Reference {
	return Reference{APIVersion: "v1", Kind: "Pod", Namespace: "ns", Name: name}
}

func selecting(labels map[string]string) Reference {
	return Reference{APIVersion: "v1", Kind: "Pod", Namespace: "ns", Selector: &metav1.LabelSelector{MatchLabels: labels}}
}

// calls collects what a tracker calls back.
type calls []string

func (c *calls) add(key types.NamespacedName) { *c = append(*c, key.Name) }

func (c *calls) take() []string {
	taken := *c
	*c = nil
	slices.Sort(taken)
	return taken
}

func (c *calls) want(t *testing.T, reason string, want ...string) {
	t.Helper()
	if d := cmp.Diff(want, c.take(), cmpopts.EquateEmpty()); d != "" {
		t.Errorf("%s (-want +got):\n%s", reason, d)
	}
}

func TestTracking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var called calls
		tr := New(called.add, time.Hour)
		track := func(r Reference, observer string) {
			t.Helper()
			if err := tr.TrackReference(r, pod(observer, nil)); err != nil {
				t.Fatalf("TrackReference: %v", err)
			}
		}
		track(ref("a"), "one")
		called.want(t, "what is newly tracked may have changed before", "one")
		track(ref("a"), "one")
		called.want(t, "what is tracked already did not go unseen")
		track(ref("a"), "two")
		track(selecting(map[string]string{"k": "v"}), "three")
		called.take()

		tr.OnChanged(pod("a", nil))
		called.want(t, "all who name it", "one", "two")
		tr.OnChanged(pod("a", map[string]string{"k": "v"}))
		called.want(t, "and who select it", "one", "three", "two")
		tr.OnChanged(cache.DeletedFinalStateUnknown{Obj: pod("b", map[string]string{"k": "v"})})
		called.want(t, "also when it is gone", "three")
		tr.OnChanged(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}})
		called.want(t, "another kind of that name concerns nobody")

		tr.OnDeletedObserver(pod("two", nil))
		tr.OnChanged(pod("a", nil))
		called.want(t, "who is gone wants nothing", "one")

		track(selecting(map[string]string{"k": "other"}), "three")
		called.want(t, "another selection is a new reference", "three")

		time.Sleep(2 * time.Hour)
		tr.OnChanged(pod("a", map[string]string{"k": "other"}))
		called.want(t, "a lease that is not renewed ends")
		track(ref("a"), "one")
		called.want(t, "and tracking again is new", "one")
	})
}

func TestValidate(t *testing.T) {
	tests := map[string]struct {
		ref  Reference
		want string
	}{
		"Name":     {ref("a"), ""},
		"Selector": {selecting(nil), ""},
		"Neither":  {ref(""), "expected exactly one, got neither: name, selector"},
		"Both": {
			Reference{APIVersion: "v1", Kind: "Pod", Namespace: "ns", Name: "a", Selector: &metav1.LabelSelector{}},
			"expected exactly one, got both: name, selector",
		},
		"Nothing": {Reference{Name: "a"}, "missing field(s): apiVersion, kind, namespace"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := tc.ref.Validate(t.Context()); err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("Validate() = %q, want %q", got, tc.want)
			}
		})
	}
}
