// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"weir.dev/api/autoscaling"
	"weir.dev/api/config"
	"weir.dev/pkg/apis"
	duckv1 "weir.dev/pkg/apis/duck/v1"
	"weir.dev/pkg/kmeta"
)

var (
	_ apis.Defaultable   = (*PodAutoscaler)(nil)
	_ apis.Validatable   = (*PodAutoscaler)(nil)
	_ kmeta.OwnerRefable = (*PodAutoscaler)(nil)
	_ duckv1.KRShaped    = (*PodAutoscaler)(nil)
)

func good() *PodAutoscaler {
	return &PodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: "r"},
		Spec: PodAutoscalerSpec{
			ScaleTargetRef: corev1.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "d"},
			ProtocolType:   "h2c",
		},
	}
}

func annotated(pairs ...string) *PodAutoscaler {
	pa := good()
	pa.Annotations = map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		pa.Annotations[autoscaling.GroupName+"/"+pairs[i]] = pairs[i+1]
	}
	return pa
}

func settings() *config.Autoscaler {
	return config.FromContextOrDefaults(context.Background()).Autoscaler
}

func TestValidation(t *testing.T) {
	tests := map[string]struct {
		reason string
		change func(*PodAutoscaler)
		want   string
	}{
		"good":         {"complete", func(*PodAutoscaler) {}, ""},
		"no target":    {"there is nothing to scale", func(pa *PodAutoscaler) { pa.Spec.ScaleTargetRef = corev1.ObjectReference{} }, "missing field(s): spec.scaleTargetRef.apiVersion, spec.scaleTargetRef.kind, spec.scaleTargetRef.name"},
		"no protocol":  {"pods speak something", func(pa *PodAutoscaler) { pa.Spec.ProtocolType = "" }, "missing field(s): spec.protocolType"},
		"protocol":     {"one of two", func(pa *PodAutoscaler) { pa.Spec.ProtocolType = "tcp" }, "invalid value: tcp: spec.protocolType"},
		"reachability": {"one of three", func(pa *PodAutoscaler) { pa.Spec.Reachability = "Maybe" }, "invalid value: Maybe: spec.reachability"},
		"concurrency":  {"not negative", func(pa *PodAutoscaler) { pa.Spec.ContainerConcurrency = -1 }, "expected 0 <= -1 <= 1000: spec.containerConcurrency"},
		"annotation":   {"checked here too", func(pa *PodAutoscaler) { pa.Annotations[autoscaling.WindowAnnotationKey] = "1s" }, "expected 6s <= 1s <= 1h0m0s: metadata.annotations.autoscaling.knative.dev/window"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pa := good()
			pa.SetDefaults(context.Background())
			tc.change(pa)
			if diff := cmp.Diff(tc.want, pa.Validate(context.Background()).Error()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestDefaults(t *testing.T) {
	pa := good()
	pa.SetDefaults(context.Background())
	if pa.Class() != autoscaling.KPA || pa.Metric() != autoscaling.Concurrency || len(pa.Annotations) != 2 {
		t.Errorf("got %v", pa.Annotations)
	}
	hpa := annotated("class", autoscaling.HPA)
	hpa.SetDefaults(context.Background())
	if hpa.Metric() != autoscaling.CPU {
		t.Errorf("got %v", hpa.Annotations)
	}
	foreign := annotated("class", "x.example.com")
	foreign.SetDefaults(context.Background())
	if foreign.Metric() != "" {
		t.Errorf("the metrics of others are theirs, got %v", foreign.Annotations)
	}
}

func TestScaleBounds(t *testing.T) {
	tests := map[string]struct {
		reason      string
		pa          *PodAutoscaler
		least, most int32
	}{
		"settings":    {"of the operator", good(), 1, 9},
		"annotations": {"of the user", annotated("min-scale", "2", "maxScale", "3"), 2, 3},
		"unlimited":   {"0 is no limit, said here", annotated("max-scale", "0"), 1, 0},
		"unreachable": {"nobody calls it", func() *PodAutoscaler {
			pa := annotated("min-scale", "2")
			pa.Spec.Reachability = ReachabilityUnreachable
			return pa
		}(), 0, 9},
		"not a number": {"the setting stays", annotated("min-scale", "x"), 1, 9},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cfg := settings()
			cfg.MinScale, cfg.MaxScale = 1, 9
			if least, most := tc.pa.ScaleBounds(cfg); least != tc.least || most != tc.most {
				t.Errorf("%s: got %d, %d", tc.reason, least, most)
			}
		})
	}
}

func TestSettings(t *testing.T) {
	pa := annotated("target", "0.5", "targetUtilizationPercentage", "80", "target-burst-capacity", "-1", "window", "30s",
		"scale-down-delay", "1m", "scale-to-zero-pod-retention-period", "2m", "panic-window-percentage", "20",
		"panic-threshold-percentage", "150", "activation-scale", "3", "initial-scale", "4", "metric-aggregation-algorithm", "weightedExponential")
	floats := func(what string, f func() (float64, bool), want float64) {
		t.Helper()
		if got, ok := f(); !ok || got != want {
			t.Errorf("%s: got %v, %v", what, got, ok)
		}
	}
	floats("target", pa.Target, 0.5)
	floats("utilization", pa.TargetUtilization, 0.8)
	floats("burst", pa.TargetBC, -1)
	floats("panic window", pa.PanicWindowPercentage, 20)
	floats("panic threshold", pa.PanicThresholdPercentage, 150)
	durations := func(what string, f func() (time.Duration, bool), want time.Duration) {
		t.Helper()
		if got, ok := f(); !ok || got != want {
			t.Errorf("%s: got %v, %v", what, got, ok)
		}
	}
	durations("window", pa.Window, 30*time.Second)
	durations("delay", pa.ScaleDownDelay, time.Minute)
	durations("retention", pa.ScaleToZeroPodRetention, 2*time.Minute)
	if n, ok := pa.ActivationScale(); !ok || n != 3 {
		t.Error("activation scale")
	}
	if pa.InitialScale(settings()) != 4 || pa.MetricAggregationAlgorithm() != autoscaling.MetricAggregationAlgorithmWeightedExponential {
		t.Error("initial scale or algorithm")
	}
	if _, ok := good().Target(); ok || good().InitialScale(settings()) != 1 || annotated("initial-scale", "0").InitialScale(settings()) != 1 {
		t.Error("what is not said, or not permitted, is the setting's")
	}
}

func TestConditions(t *testing.T) {
	pas := &PodAutoscalerStatus{}
	pas.InitializeConditions()
	if !pas.IsActivating() || pas.IsActive() || pas.IsInactive() || pas.GetDesiredScale() != -1 {
		t.Error("at the start nothing is known")
	}
	pas.MarkActive()
	pas.MarkSKSReady()
	pas.MarkScaleTargetInitialized()
	if !pas.GetCondition(PodAutoscalerConditionReady).IsTrue() || !pas.IsScaleTargetInitialized() {
		t.Errorf("got %+v", pas.Conditions)
	}
	at := pas.GetCondition(PodAutoscalerConditionActive).LastTransitionTime.Inner.Time
	if pas.ActiveFor(at.Add(time.Minute)) != time.Minute || pas.InactiveFor(at) >= 0 || pas.ActivatingFor(at) >= 0 {
		t.Error("times since Active became True")
	}
	pas.MarkInactive(ReasonNoTraffic, MessageNoTraffic)
	if c := pas.GetCondition(PodAutoscalerConditionReady); !c.IsFalse() || c.Reason != ReasonNoTraffic || !pas.IsScaleTargetInitialized() {
		t.Errorf("got %+v", c)
	}
}
