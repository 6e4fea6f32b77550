// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"strconv"
	"time"

	"weir.dev/api/autoscaling"
	"weir.dev/api/config"
	"weir.dev/pkg/kmap"
)

// Class returns which autoscaler handles the PodAutoscaler.
func (pa *PodAutoscaler) Class() string {
	if c := autoscaling.ClassAnnotation().Value(pa.Annotations); c != "" {
		return c
	}
	return autoscaling.KPA
}

// Metric returns what is measured.
func (pa *PodAutoscaler) Metric() string {
	if m := autoscaling.MetricAnnotation().Value(pa.Annotations); m != "" {
		return m
	}
	return defaultMetric(pa.Class())
}

// ScaleBounds returns the least and the greatest scale; a greatest of 0 is no
// limit. A target that nothing leads to has no least.
func (pa *PodAutoscaler) ScaleBounds(cfg *config.Autoscaler) (least, most int32) {
	least, most = cfg.MinScale, cfg.MaxScale
	if n, ok := pa.int32Of(autoscaling.MinScaleAnnotation()); ok {
		least = n
	}
	if n, ok := pa.int32Of(autoscaling.MaxScaleAnnotation()); ok {
		most = n
	}
	if pa.Spec.Reachability == ReachabilityUnreachable {
		least = 0
	}
	return least, most
}

// InitialScale returns how many pods the target starts with.
func (pa *PodAutoscaler) InitialScale(cfg *config.Autoscaler) int32 {
	if n, ok := pa.int32Of(autoscaling.InitialScaleAnnotation()); ok && (n > 0 || cfg.AllowZeroInitialScale) {
		return n
	}
	return cfg.InitialScale
}

// ActivationScale returns the least scale when there are any pods.
func (pa *PodAutoscaler) ActivationScale() (int32, bool) {
	return pa.int32Of(autoscaling.ActivationScale())
}

// Target returns the goal per pod, in the metric's unit.
func (pa *PodAutoscaler) Target() (float64, bool) {
	return pa.float64Of(autoscaling.TargetAnnotation())
}

// TargetUtilization returns the fraction of the goal to aim for.
func (pa *PodAutoscaler) TargetUtilization() (float64, bool) {
	percent, ok := pa.float64Of(autoscaling.TargetUtilizationPercentageAnnotation())
	return percent / 100, ok
}

// TargetBC returns the headroom for bursts; -1 is unlimited.
func (pa *PodAutoscaler) TargetBC() (float64, bool) {
	return pa.float64Of(autoscaling.TargetBurstCapacityAnnotation())
}

// Window returns how long load is averaged over.
func (pa *PodAutoscaler) Window() (time.Duration, bool) {
	return pa.durationOf(autoscaling.WindowAnnotation())
}

// ScaleDownDelay returns how long load must be lower before pods go.
func (pa *PodAutoscaler) ScaleDownDelay() (time.Duration, bool) {
	return pa.durationOf(autoscaling.ScaleDownDelayAnnotation())
}

// ScaleToZeroPodRetention returns how long the last pod stays at least.
func (pa *PodAutoscaler) ScaleToZeroPodRetention() (time.Duration, bool) {
	return pa.durationOf(autoscaling.ScaleToZeroPodRetentionPeriodAnnotation())
}

// PanicWindowPercentage returns the panic window in percent of the window.
func (pa *PodAutoscaler) PanicWindowPercentage() (float64, bool) {
	return pa.float64Of(autoscaling.PanicWindowPercentageAnnotation())
}

// PanicThresholdPercentage returns when panic starts.
func (pa *PodAutoscaler) PanicThresholdPercentage() (float64, bool) {
	return pa.float64Of(autoscaling.PanicThresholdPercentageAnnotation())
}

// MetricAggregationAlgorithm returns how the window is averaged.
func (pa *PodAutoscaler) MetricAggregationAlgorithm() string {
	switch autoscaling.MetricAggregationAlgorithmAnnotation().Value(pa.Annotations) {
	case autoscaling.MetricAggregationAlgorithmWeightedExponential, "weightedExponential":
		return autoscaling.MetricAggregationAlgorithmWeightedExponential
	default:
		return autoscaling.MetricAggregationAlgorithmLinear
	}
}

func (pa *PodAutoscaler) int32Of(key kmap.KeyPriority) (int32, bool) {
	n, err := strconv.ParseInt(key.Value(pa.Annotations), 10, 32)
	return int32(n), err == nil
}

func (pa *PodAutoscaler) float64Of(key kmap.KeyPriority) (float64, bool) {
	n, err := strconv.ParseFloat(key.Value(pa.Annotations), 64)
	return n, err == nil
}

func (pa *PodAutoscaler) durationOf(key kmap.KeyPriority) (time.Duration, bool) {
	d, err := time.ParseDuration(key.Value(pa.Annotations))
	return d, err == nil
}
