// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package autoscaler

import (
	"math"
	"time"

	"weir.dev/api/autoscaling"
	"weir.dev/api/autoscaling/v1alpha1"
	"weir.dev/api/config"
	"weir.dev/internal/autoscaler/decide"
)

// settings are what a PodAutoscaler and config-autoscaler say together.
type settings struct {
	metric string
	params decide.Params
	bounds decide.Bounds
	zero   decide.ZeroRules // without the time that a start may take, which its Deployment knows
	// abandoned says that nobody waits for the revision, which was never ready.
	abandoned bool
	// resumed says that it was abandoned and that somebody waits for it after all.
	resumed bool
}

// rpsUtilization is the part of a target of requests a second to aim at: it has no key of its own.
const rpsUtilization = 0.7

// resolve is pure.
func resolve(pa *v1alpha1.PodAutoscaler, cfg *config.Autoscaler) settings {
	s := settings{
		metric: pa.Metric(),
		params: decide.Params{
			StableWindow:        or(pa.Window)(cfg.StableWindow),
			PanicThreshold:      or(pa.PanicThresholdPercentage)(cfg.PanicThresholdPercentage) / 100,
			TargetBurstCapacity: or(pa.TargetBC)(cfg.TargetBurstCapacity),
			MaxScaleUpRate:      cfg.MaxScaleUpRate,
			MaxScaleDownRate:    cfg.MaxScaleDownRate,
			ActivationScale:     or(pa.ActivationScale)(0),
			ScaleDownDelay:      or(pa.ScaleDownDelay)(cfg.ScaleDownDelay),
			Reachable:           pa.Spec.Reachability != v1alpha1.ReachabilityUnreachable,
		},
	}
	if pa.MetricAggregationAlgorithm() == autoscaling.MetricAggregationAlgorithmWeightedExponential {
		s.params.Algorithm = decide.WeightedExponential
	}
	s.params.Total, s.params.Target = goal(pa, cfg)
	s.params.PanicWindow = panicWindow(s.params.StableWindow, or(pa.PanicWindowPercentage)(cfg.PanicWindowPercentage))
	s.bounds.Min, s.bounds.Max = pa.ScaleBounds(cfg)
	s.bounds.Initial = pa.InitialScale(cfg)
	if s.bounds.Max > 0 {
		s.bounds.Initial = min(s.bounds.Initial, s.bounds.Max) // or else it is never reached
	}
	s.bounds.Initialized = pa.Status.IsScaleTargetInitialized()
	s.bounds.Unreachable = !s.params.Reachable
	s.abandoned = pa.Annotations[autoscaling.AbandonedAnnotationKey] == "true" && !s.bounds.Initialized
	s.resumed = !s.abandoned && !s.bounds.Initialized && wasAbandoned(&pa.Status)
	s.zero = decide.ZeroRules{
		Enabled: cfg.EnableScaleToZero, Window: s.params.StableWindow, Grace: cfg.ScaleToZeroGracePeriod,
		Retention: or(pa.ScaleToZeroPodRetention)(cfg.ScaleToZeroPodRetentionPeriod),
	}
	return s
}

// goal is what one instance can take and the part of that to aim at.
func goal(pa *v1alpha1.PodAutoscaler, cfg *config.Autoscaler) (total, aim float64) {
	utilization := rpsUtilization
	hard := float64(pa.Spec.ContainerConcurrency)
	switch named, ok := pa.Target(); {
	case pa.Metric() == autoscaling.RPS:
		total = or(pa.Target)(cfg.RPSTargetDefault)
	case ok && hard > 0:
		total = min(named, hard)
	case ok:
		total = named
	case hard > 0:
		total = hard
	default:
		total = cfg.ContainerConcurrencyTargetDefault
	}
	if pa.Metric() != autoscaling.RPS {
		utilization = cfg.ContainerConcurrencyTargetFraction
	}
	utilization = or(pa.TargetUtilization)(utilization)
	return total, max(autoscaling.TargetMin, total*utilization)
}

func panicWindow(stable time.Duration, percent float64) time.Duration {
	return max(time.Second, time.Duration(math.Round(stable.Seconds()*percent/100))*time.Second)
}

// or is the annotation's value, else what the result is called with.
func or[T any](annotation func() (T, bool)) func(T) T {
	return func(otherwise T) T {
		if v, ok := annotation(); ok {
			return v
		}
		return otherwise
	}
}
