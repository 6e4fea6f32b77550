// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package autoscaling

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestValidateAnnotations(t *testing.T) {
	const p = GroupName + "/"
	tests := map[string]struct {
		reason string
		anns   map[string]string // keys without the prefix
		limits Limits
		want   string
	}{
		"none": {reason: "there is nothing to check"},
		"all good": {
			reason: "each at a bound",
			anns: map[string]string{
				"class": KPA, "metric": "rps", "target": "0.01", "target-utilization-percentage": "1", "target-burst-capacity": "-1",
				"min-scale": "2", "max-scale": "5", "initial-scale": "1", "activation-scale": "3", "scale-down-delay": "1h",
				"window": "6s", "panic-window-percentage": "100", "panic-threshold-percentage": "110",
				"scale-to-zero-pod-retention-period": "1500ms", "metric-aggregation-algorithm": "weightedExponential",
			},
		},
		"not numbers": {
			reason: "also empty ones",
			anns:   map[string]string{"min-scale": "", "max-scale": "x", "activation-scale": "1.5", "initial-scale": "99999999999"},
			want: "invalid value: : autoscaling.knative.dev/min-scale\n" +
				"invalid value: 1.5: autoscaling.knative.dev/activation-scale\n" +
				"invalid value: 99999999999: autoscaling.knative.dev/initial-scale\n" +
				"invalid value: x: autoscaling.knative.dev/max-scale",
		},
		"old spellings": {
			reason: "the complaint names the key that was written",
			anns:   map[string]string{"minScale": "-1", "targetBurstCapacity": "-2"},
			want: "expected 0 <= -1 <= 2147483647: autoscaling.knative.dev/minScale\n" +
				"invalid value: -2: autoscaling.knative.dev/targetBurstCapacity",
		},
		"bounds": {
			reason: "the least is not above the greatest",
			anns:   map[string]string{"min-scale": "5", "max-scale": "3"},
			want:   "max-scale=3 is less than min-scale=5: autoscaling.knative.dev/max-scale, autoscaling.knative.dev/min-scale",
		},
		"no upper bound": {reason: "0 is none", anns: map[string]string{"min-scale": "5", "max-scale": "0"}},
		"activation": {
			reason: "it lies between the bounds",
			anns:   map[string]string{"min-scale": "5", "max-scale": "3", "activation-scale": "4"},
			want: "max-scale=3 is less than activation-scale=4: autoscaling.knative.dev/activation-scale, autoscaling.knative.dev/max-scale\n" +
				"max-scale=3 is less than min-scale=5: autoscaling.knative.dev/max-scale, autoscaling.knative.dev/min-scale\n" +
				"min-scale=5 is greater than activation-scale=4: autoscaling.knative.dev/activation-scale, autoscaling.knative.dev/min-scale",
		},
		"activation of one": {
			reason: "one pod comes anyway",
			anns:   map[string]string{"activation-scale": "1"},
			want:   "activation-scale=1 must be greater than 1: autoscaling.knative.dev/activation-scale",
		},
		"over the limit": {
			reason: "the operator bounds it", limits: Limits{MaxScaleLimit: 4},
			anns: map[string]string{"max-scale": "5"},
			want: "expected 1 <= 5 <= 4: autoscaling.knative.dev/max-scale",
		},
		"unlimited under a limit": {
			reason: "0 is over every limit", limits: Limits{MaxScaleLimit: 4},
			anns: map[string]string{"max-scale": "0"},
			want: "max-scale=0 (unlimited), must be less than 4: autoscaling.knative.dev/max-scale",
		},
		"initial zero": {
			reason: "the operator has to permit it",
			anns:   map[string]string{"initial-scale": "0"},
			want:   "invalid value: 0: autoscaling.knative.dev/initial-scale=0 not allowed by cluster",
		},
		"initial zero permitted": {reason: "then it is", limits: Limits{AllowZeroInitialScale: true}, anns: map[string]string{"initial-scale": "0"}},
		"target": {
			reason: "zero would be no goal",
			anns:   map[string]string{"target": "0.009", "target-utilization-percentage": "101"},
			want: "expected 1 <= 101 <= 100: autoscaling.knative.dev/target-utilization-percentage\n" +
				"target 0.009 should be at least 0.01: autoscaling.knative.dev/target",
		},
		"not a number": {reason: "NaN compares with nothing", anns: map[string]string{"target": "NaN"}, want: "invalid value: NaN: autoscaling.knative.dev/target"},
		"times": {
			reason: "whole seconds, in bounds",
			anns:   map[string]string{"window": "5s", "scale-down-delay": "1500ms", "scale-to-zero-pod-retention-period": "soon"},
			want: "expected 6s <= 5s <= 1h0m0s: autoscaling.knative.dev/window\n" +
				"invalid value: soon: autoscaling.knative.dev/scale-to-zero-pod-retention-period\n" +
				"must be specified with at most second precision: autoscaling.knative.dev/scale-down-delay",
		},
		"panic": {
			reason: "in bounds",
			anns:   map[string]string{"panic-window-percentage": "0.5", "panic-threshold-percentage": "100"},
			want: "expected 1 <= 0.5 <= 100: autoscaling.knative.dev/panic-window-percentage\n" +
				"expected 110 <= 100 <= 1000: autoscaling.knative.dev/panic-threshold-percentage",
		},
		"class":           {reason: "ours are known", anns: map[string]string{"class": "x.knative.dev"}, want: "invalid value: x.knative.dev: autoscaling.knative.dev/class"},
		"no class":        {reason: "nobody would scale it", anns: map[string]string{"class": ""}, want: "invalid value: : autoscaling.knative.dev/class"},
		"foreign class":   {reason: "others measure what they like", anns: map[string]string{"class": "x.example.com", "metric": "mood"}},
		"hpa":             {reason: "any metric of the cluster's", anns: map[string]string{"class": HPA, "metric": "queue"}},
		"metric":          {reason: "this class knows two", anns: map[string]string{"metric": "cpu"}, want: "invalid value: cpu: autoscaling.knative.dev/metric"},
		"algorithm":       {reason: "of the class that is named", anns: map[string]string{"class": KPA, "metric-aggregation-algorithm": "x"}, want: "invalid value: x: autoscaling.knative.dev/metric-aggregation-algorithm"},
		"other algorithm": {reason: "other classes have others", anns: map[string]string{"metric-aggregation-algorithm": "x"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			anns := map[string]string{}
			for k, v := range tc.anns {
				anns[p+k] = v
			}
			if diff := cmp.Diff(tc.want, ValidateAnnotations(anns, tc.limits).Error()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
