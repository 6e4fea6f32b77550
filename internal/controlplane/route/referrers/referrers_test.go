// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package referrers

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	v1 "weir.dev/api/serving/v1"
)

func TestOf(t *testing.T) {
	route := &v1.Route{
		Spec: v1.RouteSpec{Traffic: []v1.TrafficTarget{{ConfigurationName: "app"}, {RevisionName: "app-1"}, {ConfigurationName: "new"}}},
		Status: v1.RouteStatus{RouteStatusFields: v1.RouteStatusFields{
			Traffic: []v1.TrafficTarget{{RevisionName: "app-2"}, {RevisionName: "app-1"}},
		}},
	}
	got := Of(route, func(name string) string { return map[string]string{"app": "app-3"}[name] })
	want := Targets{Revisions: sets.New("app-1", "app-2", "app-3"), Configurations: sets.New("app", "new")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what is programmed, what is asked for, and what is to come (-want +got):\n%s", diff)
	}
}

func TestChanges(t *testing.T) {
	const at = "2026-01-01T00:00:00Z"
	now, err := time.Parse(time.RFC3339, at)
	if err != nil {
		t.Fatal(err)
	}
	rev := func(routes, state string) *v1.Revision {
		r := &v1.Revision{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{}, Annotations: map[string]string{}}}
		if routes != "" {
			r.Annotations["serving.knative.dev/routes"] = routes
		}
		if state != "" {
			r.Labels["serving.knative.dev/routingState"] = state
		}
		return r
	}
	stamped := func(routes, state string) string {
		return `{"metadata":{"annotations":{"serving.knative.dev/routes":` + routes + `,"serving.knative.dev/routingStateModified":"` + at +
			`"},"labels":{"serving.knative.dev/routingState":"` + state + `"},"resourceVersion":"7"}}`
	}
	tests := map[string]struct {
		reason string
		change change
		want   string
	}{
		"first route":    {"becomes active", addTo(rev("", "pending"), "b"), stamped(`"b"`, "active")},
		"no state yet":   {"becomes active", addTo(rev("", ""), "b"), stamped(`"b"`, "active")},
		"back from idle": {"becomes active", addTo(rev("", "reserve"), "b"), stamped(`"b"`, "active")},
		"second route": {
			"is active already: no new stamp", addTo(rev("c", "active"), "b"),
			`{"metadata":{"annotations":{"serving.knative.dev/routes":"b,c"},"resourceVersion":"7"}}`,
		},
		"same route": {"nothing changed, nothing is written", addTo(rev("a,b", "active"), "b"), "null"},
		"one less": {
			"still active", removeFrom(rev("a,b", "active"), "b"),
			`{"metadata":{"annotations":{"serving.knative.dev/routes":"a"},"resourceVersion":"7"}}`,
		},
		"last one":      {"goes into reserve", removeFrom(rev("b", "active"), "b"), stamped("null", "reserve")},
		"not there":     {"nothing changed, nothing is written", removeFrom(rev("a", "active"), "b"), "null"},
		"configuration": {"has no state", add([]string{"c"}, "b"), `{"metadata":{"annotations":{"serving.knative.dev/routes":"b,c"},"resourceVersion":"7"}}`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := json.Marshal(tc.change.metadata("7", now))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
