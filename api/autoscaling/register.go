// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package autoscaling holds the names of autoscaling: the API group of
// PodAutoscaler, the annotations that users write on revision templates, and
// the rules for their values.
package autoscaling

import (
	"slices"
	"time"

	"weir.dev/pkg/kmap"
)

const (
	// InternalGroupName is the API group of PodAutoscaler.
	InternalGroupName = "autoscaling.internal.knative.dev"
	// GroupName is the prefix of the annotations.
	GroupName = "autoscaling.knative.dev"

	// Domain ends the names of the classes that are ours to check.
	Domain = ".knative.dev"
)

// AbandonedAnnotationKey says, as "true" on a PodAutoscaler, that nobody waits
// for its Revision: it was never ready, no Route leads there, and a newer one took its place. Ours.
const AbandonedAnnotationKey = "weir.dev/abandoned"

// Annotations, in their canonical spelling.
const (
	// ClassAnnotationKey says which autoscaler handles a PodAutoscaler.
	ClassAnnotationKey = GroupName + "/class"
	// MetricAnnotationKey is what is measured.
	MetricAnnotationKey = GroupName + "/metric"
	// TargetAnnotationKey is the goal per pod, in the metric's unit.
	TargetAnnotationKey = GroupName + "/target"
	// TargetUtilizationPercentageKey is the part of the goal to aim for.
	TargetUtilizationPercentageKey = GroupName + "/target-utilization-percentage"
	// TargetBurstCapacityKey is the headroom for bursts, in requests.
	TargetBurstCapacityKey = GroupName + "/target-burst-capacity"
	// MinScaleAnnotationKey is the least number of pods.
	MinScaleAnnotationKey = GroupName + "/min-scale"
	// MaxScaleAnnotationKey is the greatest number of pods; 0 is no limit.
	MaxScaleAnnotationKey = GroupName + "/max-scale"
	// InitialScaleAnnotationKey is how many pods a Revision starts with.
	InitialScaleAnnotationKey = GroupName + "/initial-scale"
	// ActivationScaleKey is the least number of pods when there are any.
	ActivationScaleKey = GroupName + "/activation-scale"
	// ScaleDownDelayAnnotationKey is how long load must be lower before pods go.
	ScaleDownDelayAnnotationKey = GroupName + "/scale-down-delay"
	// WindowAnnotationKey is how long load is averaged over.
	WindowAnnotationKey = GroupName + "/window"
	// PanicWindowPercentageAnnotationKey is the panic window in percent of it.
	PanicWindowPercentageAnnotationKey = GroupName + "/panic-window-percentage"
	// PanicThresholdPercentageAnnotationKey is when panic starts.
	PanicThresholdPercentageAnnotationKey = GroupName + "/panic-threshold-percentage"
	// ScaleToZeroPodRetentionPeriodKey is how long the last pod stays at least.
	ScaleToZeroPodRetentionPeriodKey = GroupName + "/scale-to-zero-pod-retention-period"
	// MetricAggregationAlgorithmKey is how the window is averaged.
	MetricAggregationAlgorithmKey = GroupName + "/metric-aggregation-algorithm"
)

// Values.
const (
	// KPA is the class of the request-driven autoscaler.
	KPA = "kpa.autoscaling.knative.dev"
	// HPA is the class that uses a HorizontalPodAutoscaler.
	HPA = "hpa.autoscaling.knative.dev"

	// Concurrency is the metric of requests in flight.
	Concurrency = "concurrency"
	// RPS is the metric of requests per second.
	RPS = "rps"
	// CPU is a metric of class HPA.
	CPU = "cpu"
	// Memory is a metric of class HPA.
	Memory = "memory"

	// MetricAggregationAlgorithmLinear weighs the window evenly.
	MetricAggregationAlgorithmLinear = "linear"
	// MetricAggregationAlgorithmWeightedExponential weighs the newest most.
	MetricAggregationAlgorithmWeightedExponential = "weighted-exponential"
)

// Limits.
const (
	// TargetMin is the least target.
	TargetMin = 0.01
	// WindowMin is the shortest window.
	WindowMin = 6 * time.Second
	// WindowMax is the longest window, delay and retention.
	WindowMax = time.Hour
	// PanicWindowPercentageMin is the least panic window.
	PanicWindowPercentageMin = 1.0
	// PanicWindowPercentageMax is the greatest panic window.
	PanicWindowPercentageMax = 100.0
	// PanicThresholdPercentageMin is the lowest panic threshold.
	PanicThresholdPercentageMin = 110.0
	// PanicThresholdPercentageMax is the highest panic threshold.
	PanicThresholdPercentageMax = 1000.0
	// ActivationScaleMin is the least activation scale.
	ActivationScaleMin = 2
)

// ClassAnnotation returns the spellings of the class.
func ClassAnnotation() kmap.KeyPriority { return kmap.KeyPriority{ClassAnnotationKey} }

// MetricAnnotation returns the spellings of the metric.
func MetricAnnotation() kmap.KeyPriority { return kmap.KeyPriority{MetricAnnotationKey} }

// TargetAnnotation returns the spellings of the target.
func TargetAnnotation() kmap.KeyPriority { return kmap.KeyPriority{TargetAnnotationKey} }

// TargetUtilizationPercentageAnnotation returns the spellings of the utilization.
func TargetUtilizationPercentageAnnotation() kmap.KeyPriority {
	return kmap.KeyPriority{TargetUtilizationPercentageKey, GroupName + "/targetUtilizationPercentage"}
}

// TargetBurstCapacityAnnotation returns the spellings of the burst capacity.
func TargetBurstCapacityAnnotation() kmap.KeyPriority {
	return kmap.KeyPriority{TargetBurstCapacityKey, GroupName + "/targetBurstCapacity"}
}

// MinScaleAnnotation returns the spellings of the least scale.
func MinScaleAnnotation() kmap.KeyPriority {
	return kmap.KeyPriority{MinScaleAnnotationKey, GroupName + "/minScale"}
}

// MaxScaleAnnotation returns the spellings of the greatest scale.
func MaxScaleAnnotation() kmap.KeyPriority {
	return kmap.KeyPriority{MaxScaleAnnotationKey, GroupName + "/maxScale"}
}

// InitialScaleAnnotation returns the spellings of the initial scale.
func InitialScaleAnnotation() kmap.KeyPriority {
	return kmap.KeyPriority{InitialScaleAnnotationKey, GroupName + "/initialScale"}
}

// ActivationScale returns the spellings of the activation scale.
func ActivationScale() kmap.KeyPriority { return kmap.KeyPriority{ActivationScaleKey} }

// ScaleDownDelayAnnotation returns the spellings of the delay.
func ScaleDownDelayAnnotation() kmap.KeyPriority {
	return kmap.KeyPriority{ScaleDownDelayAnnotationKey, GroupName + "/scaleDownDelay"}
}

// WindowAnnotation returns the spellings of the window.
func WindowAnnotation() kmap.KeyPriority { return kmap.KeyPriority{WindowAnnotationKey} }

// PanicWindowPercentageAnnotation returns the spellings of the panic window.
func PanicWindowPercentageAnnotation() kmap.KeyPriority {
	return kmap.KeyPriority{PanicWindowPercentageAnnotationKey, GroupName + "/panicWindowPercentage"}
}

// PanicThresholdPercentageAnnotation returns the spellings of the threshold.
func PanicThresholdPercentageAnnotation() kmap.KeyPriority {
	return kmap.KeyPriority{
		PanicThresholdPercentageAnnotationKey, GroupName + "/panicThresholdPercentage",
	}
}

// ScaleToZeroPodRetentionPeriodAnnotation returns the spellings of the retention.
func ScaleToZeroPodRetentionPeriodAnnotation() kmap.KeyPriority {
	return kmap.KeyPriority{
		ScaleToZeroPodRetentionPeriodKey, GroupName + "/scaleToZeroPodRetentionPeriod",
	}
}

// MetricAggregationAlgorithmAnnotation returns the spellings of the algorithm.
func MetricAggregationAlgorithmAnnotation() kmap.KeyPriority {
	return kmap.KeyPriority{
		MetricAggregationAlgorithmKey, GroupName + "/metricAggregationAlgorithm",
	}
}

// Keys returns the annotations of autoscaling, in all spellings.
func Keys() []string {
	return slices.Concat([]kmap.KeyPriority{
		ClassAnnotation(), MetricAnnotation(), TargetAnnotation(), TargetUtilizationPercentageAnnotation(),
		TargetBurstCapacityAnnotation(), MinScaleAnnotation(), MaxScaleAnnotation(), InitialScaleAnnotation(), ActivationScale(),
		ScaleDownDelayAnnotation(), WindowAnnotation(), PanicWindowPercentageAnnotation(), PanicThresholdPercentageAnnotation(),
		ScaleToZeroPodRetentionPeriodAnnotation(), MetricAggregationAlgorithmAnnotation(),
	}...)
}
