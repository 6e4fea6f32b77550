// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	autoscalingv1alpha1 "weir.dev/api/autoscaling/v1alpha1"
	v1 "weir.dev/api/serving/v1"
	"weir.dev/internal/controlplane/fixture"
	rtesting "weir.dev/pkg/reconciler/testing"
)

// moved is rev's Configuration with the generation that its status stands for and the Revision that it names.
func moved(observed int64, latest string) *v1.Configuration {
	return fixture.Configuration("app", func(c *v1.Configuration) {
		c.Status.ObservedGeneration, c.Status.LatestCreatedRevisionName = observed, latest
	})
}

func TestAbandoned(t *testing.T) {
	const reserve, active, pending = v1.RoutingStateReserve, v1.RoutingStateActive, v1.RoutingStatePending
	tests := map[string]struct {
		reason string
		state  v1.RoutingState
		config []runtime.Object
		pa     *autoscalingv1alpha1.PodAutoscaler
		want   bool
	}{
		"superseded":       {"there is a newer one", reserve, []runtime.Object{moved(2, "app-00002")}, pa(starting), true},
		"gone back from":   {"there is an older one, by its name", reserve, []runtime.Object{moved(2, "app-named")}, pa(starting), true},
		"newest":           {"the Configuration waits for it, whatever Routes say", reserve, []runtime.Object{moved(1, "app-00001")}, pa(starting), false},
		"just made":        {"the Configuration does not tell of it yet", reserve, []runtime.Object{moved(0, "app-00000")}, pa(starting), false},
		"routed":           {"a Route leads there", active, []runtime.Object{moved(2, "app-00002")}, pa(starting), false},
		"without a Route":  {"nobody said that none leads there", pending, []runtime.Object{moved(2, "app-00002")}, pa(starting), false},
		"was ready":        {"it can serve", reserve, []runtime.Object{moved(2, "app-00002")}, pa(scaled("True", "", "")), false},
		"nobody's":         {"its Configuration is gone, and it goes with it", reserve, nil, pa(starting), false},
		"no PodAutoscaler": {"that is about to be made", reserve, []runtime.Object{moved(2, "app-00002")}, nil, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := &Reconciler{configurations: fixture.New(tc.config...).Configurations(), tracker: &rtesting.FakeTracker{}}
			rev := rev(func(rev *v1.Revision) { rev.Labels["serving.knative.dev/routingState"] = string(tc.state) })
			got, err := r.abandoned(rev, observation{podAutoscaler: tc.pa})
			if err != nil || got != tc.want {
				t.Errorf("%s: got %v, %v, want %v", tc.reason, got, err, tc.want)
			}
		})
	}
}
