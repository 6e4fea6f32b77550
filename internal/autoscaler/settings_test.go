// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package autoscaler

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"weir.dev/api/autoscaling"
	"weir.dev/api/autoscaling/v1alpha1"
	"weir.dev/api/config"
	"weir.dev/internal/autoscaler/decide"
)

func TestResolve(t *testing.T) {
	base := func(change func(*settings)) settings {
		s := settings{
			metric: autoscaling.Concurrency,
			params: decide.Params{
				Total: 100, Target: 70, TargetBurstCapacity: 211, StableWindow: time.Minute, PanicWindow: 6 * time.Second,
				PanicThreshold: 2, MaxScaleUpRate: 1000, MaxScaleDownRate: 2, Reachable: true,
			},
			bounds: decide.Bounds{Initial: 1},
			zero:   decide.ZeroRules{Enabled: true, Window: time.Minute, Grace: 30 * time.Second},
		}
		change(&s)
		return s
	}
	cases := map[string]struct {
		reason      string
		annotations map[string]string
		config      map[string]string
		unrouted    bool
		spec        v1alpha1.PodAutoscalerSpec
		want        settings
	}{
		"defaults": {reason: "facts 5.2", want: base(func(*settings) {})},
		"hard limit": {
			reason: "the target follows the limit", spec: v1alpha1.PodAutoscalerSpec{ContainerConcurrency: 10},
			want: base(func(s *settings) { s.params.Total, s.params.Target = 10, 7 }),
		},
		"target above the hard limit": {
			reason: "the limit is the most", annotations: map[string]string{"target": "50"},
			spec: v1alpha1.PodAutoscalerSpec{ContainerConcurrency: 10},
			want: base(func(s *settings) { s.params.Total, s.params.Target = 10, 7 }),
		},
		"target and utilisation": {
			reason: "annotations win", annotations: map[string]string{"target": "50", "target-utilization-percentage": "90"},
			want: base(func(s *settings) { s.params.Total, s.params.Target = 50, 45 }),
		},
		"tiny target": {
			reason: "never below 0.01", annotations: map[string]string{"target": "0.01", "target-utilization-percentage": "1"},
			want: base(func(s *settings) { s.params.Total, s.params.Target = 0.01, 0.01 }),
		},
		"rps": {
			reason: "own default, fixed utilisation, hard limit of no account", annotations: map[string]string{"metric": "rps"},
			config: map[string]string{"container-concurrency-target-percentage": "50"},
			spec:   v1alpha1.PodAutoscalerSpec{ContainerConcurrency: 10},
			want: base(func(s *settings) {
				s.metric, s.params.Total, s.params.Target = "rps", 200, 140
			}),
		},
		"windows": {
			reason:      "the panic window is rounded to seconds, at least one",
			annotations: map[string]string{"window": "6s", "panic-window-percentage": "5", "panic-threshold-percentage": "300"},
			want: base(func(s *settings) {
				s.params.StableWindow, s.zero.Window, s.params.PanicWindow = 6*time.Second, 6*time.Second, time.Second
				s.params.PanicThreshold = 3
			}),
		},
		"bounds": {
			reason: "annotations over the ConfigMap", annotations: map[string]string{"min-scale": "2", "initial-scale": "3"},
			config: map[string]string{"max-scale": "5", "min-scale": "1"},
			want: base(func(s *settings) {
				s.bounds = decide.Bounds{Min: 2, Max: 5, Initial: 3}
			}),
		},
		"initial above the maximum": {
			reason: "it could never be reached", annotations: map[string]string{"initial-scale": "5", "max-scale": "2"},
			want: base(func(s *settings) { s.bounds = decide.Bounds{Max: 2, Initial: 2} }),
		},
		"unreachable": {
			reason: "no minimum, and down at once", annotations: map[string]string{"min-scale": "2"},
			spec: v1alpha1.PodAutoscalerSpec{Reachability: v1alpha1.ReachabilityUnreachable},
			want: base(func(s *settings) {
				s.params.Reachable, s.bounds.Unreachable = false, true
			}),
		},
		"abandoned": {
			reason: "no route leads there, and it was never ready", unrouted: true,
			want: base(func(s *settings) { s.abandoned = true }),
		},
		"the rest": {
			reason: "each has its place",
			annotations: map[string]string{
				"activation-scale": "4", "scale-down-delay": "15s", "target-burst-capacity": "-1",
				"scale-to-zero-pod-retention-period": "1m", "metric-aggregation-algorithm": "weighted-exponential",
			},
			config: map[string]string{"enable-scale-to-zero": "false", "scale-to-zero-grace-period": "5s"},
			want: base(func(s *settings) {
				s.params.ActivationScale, s.params.ScaleDownDelay, s.params.TargetBurstCapacity = 4, 15*time.Second, -1
				s.params.Algorithm = decide.WeightedExponential
				s.zero.Enabled, s.zero.Grace, s.zero.Retention = false, 5*time.Second, time.Minute
			}),
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cfg, err := config.NewAutoscaler(c.config)
			if err != nil {
				t.Fatal(err)
			}
			pa := &v1alpha1.PodAutoscaler{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{}}, Spec: c.spec}
			for k, v := range c.annotations {
				pa.Annotations[autoscaling.GroupName+"/"+k] = v
			}
			if c.unrouted {
				pa.Annotations["weir.dev/abandoned"] = "true"
			}
			opts := cmp.Options{cmp.AllowUnexported(settings{}), cmpopts.EquateApprox(0, 1e-9)}
			if diff := cmp.Diff(c.want, resolve(pa, cfg), opts); diff != "" {
				t.Errorf("%s: -want +got:\n%s", c.reason, diff)
			}
		})
	}
}

func TestVerdict(t *testing.T) {
	s := settings{zero: decide.ZeroRules{Enabled: true, Window: time.Minute, Grace: 30 * time.Second}}
	s.bounds = decide.Bounds{Min: 0, Max: 5, Initial: 1, Initialized: true}
	least := s
	least.bounds.Min = 3
	abandoned, resumed := s, s
	abandoned.abandoned = true
	resumed.resumed, resumed.bounds.Initialized, resumed.bounds.Initial = true, false, 2
	cases := map[string]struct {
		reason   string
		desired  int32
		settings settings
		idle     decide.Idle
		want     decide.Verdict
	}{
		"as desired": {"within bounds", 4, s, decide.Idle{}, decide.Verdict{Want: 4, Apply: true}},
		"bounded":    {"not above", 9, s, decide.Idle{}, decide.Verdict{Want: 5, Apply: true}},
		"unknown":    {"no figures, no change", decide.Unknown, s, decide.Idle{Replicas: 2}, decide.Verdict{Want: decide.Unknown}},
		"unknown, below the minimum": {
			"the minimum needs no figures", decide.Unknown, least, decide.Idle{Replicas: 2}, decide.Verdict{Want: 3, Apply: true},
		},
		"idle, minimum":       {"never zero", 0, least, decide.Idle{Replicas: 3}, decide.Verdict{Want: 3, Apply: true}},
		"abandoned":           {"nobody waits for it", decide.Unknown, abandoned, decide.Idle{Replicas: 1}, decide.Verdict{Want: 0, Apply: true}},
		"resumed":             {"its first start, once more", decide.Unknown, resumed, decide.Idle{Activity: decide.Inactive}, decide.Verdict{Want: 2, Apply: true}},
		"abandoned, and busy": {"but somebody does", 1, abandoned, decide.Idle{Replicas: 1, Busy: true}, decide.Verdict{Want: 1, Apply: true}},
		"starting": {
			"for as long as a start may take", 0, s, decide.Idle{For: time.Minute, Replicas: 1},
			decide.Verdict{Want: decide.Unknown, Recheck: time.Minute},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := verdict(c.desired, c.settings, c.idle, 2*time.Minute); got != c.want {
				t.Errorf("%s: got %+v, want %+v", c.reason, got, c.want)
			}
		})
	}
}
