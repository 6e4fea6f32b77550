// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"time"

	"weir.dev/api/autoscaling"
	"weir.dev/pkg/configmap"
)

// Autoscaler is config-autoscaler. The keys of parts that Weir does not have
// (activator-capacity) are parsed and have no effect.
type Autoscaler struct {
	// PodAutoscalerClass of revisions that name none.
	PodAutoscalerClass string
	// EnableScaleToZero off keeps one pod at least.
	EnableScaleToZero bool
	// AllowZeroInitialScale permits an initial scale of 0.
	AllowZeroInitialScale bool
	// InitialScale, MinScale, MaxScale of revisions that name none; a MaxScale
	// of 0 is no limit.
	InitialScale, MinScale, MaxScale int32
	// MaxScaleLimit bounds the maximum that a revision may name; 0 is none.
	MaxScaleLimit int32

	// ContainerConcurrencyTargetFraction is the part of the target to aim for,
	// in (0,1].
	ContainerConcurrencyTargetFraction float64
	// ContainerConcurrencyTargetDefault is the target without a limit.
	ContainerConcurrencyTargetDefault float64
	// RPSTargetDefault is the target of the metric rps.
	RPSTargetDefault float64
	// TargetBurstCapacity is the headroom, in requests; -1 is unlimited.
	TargetBurstCapacity float64
	// ActivatorCapacity has no effect.
	ActivatorCapacity float64

	// MaxScaleUpRate and MaxScaleDownRate bound one step.
	MaxScaleUpRate, MaxScaleDownRate float64
	// StableWindow is how long load is averaged over.
	StableWindow time.Duration
	// PanicWindowPercentage is the panic window in percent of it.
	PanicWindowPercentage float64
	// PanicThresholdPercentage is when panic starts.
	PanicThresholdPercentage float64
	// ScaleToZeroGracePeriod is between the decision and zero.
	ScaleToZeroGracePeriod time.Duration
	// ScaleToZeroPodRetentionPeriod is how long the last pod stays at least.
	ScaleToZeroPodRetentionPeriod time.Duration
	// ScaleDownDelay is how long load must be lower before pods go.
	ScaleDownDelay time.Duration
}

func defaultAutoscaler() *Autoscaler {
	return &Autoscaler{
		PodAutoscalerClass:                 autoscaling.KPA,
		EnableScaleToZero:                  true,
		InitialScale:                       1,
		ContainerConcurrencyTargetFraction: 0.7,
		ContainerConcurrencyTargetDefault:  100,
		RPSTargetDefault:                   200,
		TargetBurstCapacity:                211,
		ActivatorCapacity:                  100,
		MaxScaleUpRate:                     1000,
		MaxScaleDownRate:                   2,
		StableWindow:                       time.Minute,
		PanicWindowPercentage:              10,
		PanicThresholdPercentage:           200,
		ScaleToZeroGracePeriod:             30 * time.Second,
	}
}

// NewAutoscaler parses config-autoscaler.
func NewAutoscaler(data map[string]string) (*Autoscaler, error) {
	a := defaultAutoscaler()
	err := configmap.Parse(data,
		configmap.AsString("pod-autoscaler-class", &a.PodAutoscalerClass),
		configmap.AsBool("enable-scale-to-zero", &a.EnableScaleToZero),
		configmap.AsBool("allow-zero-initial-scale", &a.AllowZeroInitialScale),
		configmap.AsInt32("initial-scale", &a.InitialScale),
		configmap.AsInt32("min-scale", &a.MinScale),
		configmap.AsInt32("max-scale", &a.MaxScale),
		configmap.AsInt32("max-scale-limit", &a.MaxScaleLimit),
		configmap.AsFloat64("container-concurrency-target-percentage", &a.ContainerConcurrencyTargetFraction),
		configmap.AsFloat64("container-concurrency-target-default", &a.ContainerConcurrencyTargetDefault),
		configmap.AsFloat64("requests-per-second-target-default", &a.RPSTargetDefault),
		configmap.AsFloat64("target-burst-capacity", &a.TargetBurstCapacity),
		configmap.AsFloat64("activator-capacity", &a.ActivatorCapacity),
		configmap.AsFloat64("max-scale-up-rate", &a.MaxScaleUpRate),
		configmap.AsFloat64("max-scale-down-rate", &a.MaxScaleDownRate),
		configmap.AsDuration("stable-window", &a.StableWindow),
		configmap.AsFloat64("panic-window-percentage", &a.PanicWindowPercentage),
		configmap.AsFloat64("panic-threshold-percentage", &a.PanicThresholdPercentage),
		configmap.AsDuration("scale-to-zero-grace-period", &a.ScaleToZeroGracePeriod),
		configmap.AsDuration("scale-to-zero-pod-retention-period", &a.ScaleToZeroPodRetentionPeriod),
		configmap.AsDuration("scale-down-delay", &a.ScaleDownDelay),
	)
	if err != nil {
		return nil, err
	}
	if a.ContainerConcurrencyTargetFraction > 1 {
		a.ContainerConcurrencyTargetFraction /= 100
	}
	return a, errors.Join(append(a.checkScale(), append(a.checkTargets(), a.checkTimes()...)...)...)
}

// rule is one condition on the settings.
type rule struct {
	holds   bool
	message string
}

func broken(rules ...rule) []error {
	var errs []error
	for _, r := range rules {
		if !r.holds {
			errs = append(errs, errors.New(r.message))
		}
	}
	return errs
}

func (a *Autoscaler) checkScale() []error {
	least := int32(1)
	if a.AllowZeroInitialScale {
		least = 0
	}
	return broken(
		rule{a.InitialScale >= least, fmt.Sprintf("initial-scale = %d, must be at least %d", a.InitialScale, least)},
		rule{a.MinScale >= 0, fmt.Sprintf("min-scale = %d, must be at least 0", a.MinScale)},
		rule{a.MaxScale >= 0, fmt.Sprintf("max-scale = %d, must be at least 0", a.MaxScale)},
		rule{
			a.MaxScale == 0 || a.MinScale <= a.MaxScale,
			fmt.Sprintf("min-scale (%d) must be less than max-scale (%d)", a.MinScale, a.MaxScale),
		},
		rule{a.MaxScaleLimit >= 0, fmt.Sprintf("max-scale-limit = %d, must be at least 0", a.MaxScaleLimit)},
		rule{
			a.MaxScaleLimit <= 0 || (a.MaxScale >= 1 && a.MaxScale <= a.MaxScaleLimit),
			fmt.Sprintf("max-scale = %d, must be in [1, %d] with max-scale-limit", a.MaxScale, a.MaxScaleLimit),
		},
	)
}

func (a *Autoscaler) checkTargets() []error {
	f := a.ContainerConcurrencyTargetFraction
	return broken(
		rule{f > 0 && f <= 1, fmt.Sprintf("container-concurrency-target-percentage = %v, must be in (0, 100]", f*100)},
		rule{
			f*a.ContainerConcurrencyTargetDefault >= autoscaling.TargetMin,
			fmt.Sprintf("container-concurrency-target-percentage and -default yield a target below %v", autoscaling.TargetMin),
		},
		rule{a.RPSTargetDefault >= autoscaling.TargetMin, fmt.Sprintf("requests-per-second-target-default must be at least %v", autoscaling.TargetMin)},
		rule{a.TargetBurstCapacity >= 0 || a.TargetBurstCapacity == -1, fmt.Sprintf("target-burst-capacity = %v, must be at least 0 or -1", a.TargetBurstCapacity)},
		rule{a.ActivatorCapacity >= 1, fmt.Sprintf("activator-capacity = %v, must be at least 1", a.ActivatorCapacity)},
		rule{a.MaxScaleUpRate > 1, fmt.Sprintf("max-scale-up-rate = %v, must be greater than 1", a.MaxScaleUpRate)},
		rule{a.MaxScaleDownRate > 1, fmt.Sprintf("max-scale-down-rate = %v, must be greater than 1", a.MaxScaleDownRate)},
	)
}

func (a *Autoscaler) checkTimes() []error {
	wholeSeconds := func(d time.Duration) bool { return d%time.Second == 0 }
	return broken(
		rule{
			a.StableWindow >= autoscaling.WindowMin && a.StableWindow <= autoscaling.WindowMax && wholeSeconds(a.StableWindow),
			fmt.Sprintf("stable-window = %v, must be whole seconds in [%v, %v]", a.StableWindow, autoscaling.WindowMin, autoscaling.WindowMax),
		},
		rule{
			a.PanicWindowPercentage >= autoscaling.PanicWindowPercentageMin && a.PanicWindowPercentage <= autoscaling.PanicWindowPercentageMax,
			fmt.Sprintf("panic-window-percentage = %v, must be in [1, 100]", a.PanicWindowPercentage),
		},
		rule{a.ScaleToZeroGracePeriod > 0, fmt.Sprintf("scale-to-zero-grace-period = %v, must be greater than 0", a.ScaleToZeroGracePeriod)},
		rule{a.ScaleToZeroPodRetentionPeriod >= 0, fmt.Sprintf("scale-to-zero-pod-retention-period = %v, must be at least 0", a.ScaleToZeroPodRetentionPeriod)},
		rule{
			a.ScaleDownDelay >= 0 && wholeSeconds(a.ScaleDownDelay),
			fmt.Sprintf("scale-down-delay = %v, must be whole seconds, at least 0", a.ScaleDownDelay),
		},
	)
}
