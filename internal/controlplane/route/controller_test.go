// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	v1 "weir.dev/api/serving/v1"
	"weir.dev/internal/controlplane/fixture"
)

// A Revision is born with the Routes of its Service, and one with named Revisions does not lead there.
func TestBornWith(t *testing.T) {
	born := fixture.Revision("app", 2, func(rev *v1.Revision) {
		rev.Annotations = map[string]string{"serving.knative.dev/routes": "app,gone"}
	})
	gone, app := types.NamespacedName{Namespace: "ns", Name: "gone"}, types.NamespacedName{Namespace: "ns", Name: "app"}
	tests := map[string]struct {
		reason string
		route  *v1.Route
		want   []types.NamespacedName
	}{
		"follows": {"it is reconciled when its Configuration changes", route(), []types.NamespacedName{gone}},
		"pinned":  {"nothing else would tell it", pinned(served), []types.NamespacedName{app, gone}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := bornWith(fixture.New(tc.route).Routes(), born); !slices.Equal(got, tc.want) {
				t.Errorf("%s: got %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
	unrouted := fixture.Revision("app", 2, func(rev *v1.Revision) { rev.Annotations = nil })
	if got := bornWith(fixture.New().Routes(), unrouted); got != nil {
		t.Errorf("of no Route: got %v", got)
	}
}
