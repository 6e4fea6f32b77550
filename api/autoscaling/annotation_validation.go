// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package autoscaling

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"weir.dev/pkg/apis"
	"weir.dev/pkg/kmap"
)

// Limits is what the operator's settings permit annotations to say.
type Limits struct {
	// AllowZeroInitialScale permits an initial scale of 0.
	AllowZeroInitialScale bool
	// MaxScaleLimit bounds the maximum scale; 0 is none.
	MaxScaleLimit int32
}

// ValidateAnnotations checks the autoscaling annotations of a revision
// template. Paths are the keys, in the spelling that was used.
func ValidateAnnotations(anns map[string]string, limits Limits) *apis.FieldError {
	if len(anns) == 0 {
		return nil
	}
	return validateClass(anns).
		Also(validateScales(anns, limits)).
		Also(validateInitialScale(anns, limits)).
		Also(validateMetric(anns)).
		Also(validateTargets(anns)).
		Also(validateTimes(anns)).
		Also(validatePanic(anns)).
		Also(validateAlgorithm(anns))
}

// Annotations returns the autoscaling annotations among the keys, sorted.
func Annotations(anns map[string]string) []string {
	var keys []string
	for k := range anns {
		if strings.HasPrefix(k, GroupName+"/") {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}

func validateClass(anns map[string]string) *apis.FieldError {
	k, class, ok := ClassAnnotation().Get(anns)
	if !ok || class == KPA || class == HPA || class != "" && !strings.HasSuffix(class, Domain) {
		return nil
	}
	return apis.ErrInvalidValue(class, k)
}

// scale reads a whole number that is not negative; missing is 0.
func scale(anns map[string]string, key kmap.KeyPriority) (int32, *apis.FieldError) {
	k, v, ok := key.Get(anns)
	if !ok {
		return 0, nil
	}
	n, err := strconv.ParseInt(v, 10, 32)
	if err != nil {
		return 0, apis.ErrInvalidValue(v, k)
	}
	if n < 0 {
		return 0, apis.ErrOutOfBoundsValue(n, 0, math.MaxInt32, k)
	}
	return int32(n), nil
}

func validateScales(anns map[string]string, limits Limits) *apis.FieldError {
	least, errs := scale(anns, MinScaleAnnotation())
	most, err := scale(anns, MaxScaleAnnotation())
	errs = errs.Also(err)
	if _, _, ok := MaxScaleAnnotation().Get(anns); ok && err == nil {
		errs = errs.Also(validateMaxScaleLimit(most, limits))
	}
	activation, err := scale(anns, ActivationScale())
	errs = errs.Also(err)
	if errs != nil {
		return errs
	}
	contradicts := func(wrong bool, message string, keys ...string) {
		if wrong {
			errs = errs.Also(apis.ErrGeneric(message, keys...))
		}
	}
	contradicts(most > 0 && most < least,
		fmt.Sprintf("max-scale=%d is less than min-scale=%d", most, least), MaxScaleAnnotationKey, MinScaleAnnotationKey)
	if _, _, ok := ActivationScale().Get(anns); !ok {
		return errs
	}
	contradicts(activation < ActivationScaleMin,
		fmt.Sprintf("activation-scale=%d must be greater than 1", activation), ActivationScaleKey)
	contradicts(least > activation,
		fmt.Sprintf("min-scale=%d is greater than activation-scale=%d", least, activation), MinScaleAnnotationKey, ActivationScaleKey)
	contradicts(most > 0 && most < activation,
		fmt.Sprintf("max-scale=%d is less than activation-scale=%d", most, activation), MaxScaleAnnotationKey, ActivationScaleKey)
	return errs
}

// WarnBounds tells about a bound that contradicts the other one, where only the
// operator says that: the greatest scale counts. It is no error, because the
// operator may say so later, too.
func WarnBounds(anns map[string]string, clusterLeast, clusterMost int32) *apis.FieldError {
	_, _, hasLeast := MinScaleAnnotation().Get(anns)
	_, _, hasMost := MaxScaleAnnotation().Get(anns)
	least, err := scale(anns, MinScaleAnnotation())
	most, err2 := scale(anns, MaxScaleAnnotation())
	var warning *apis.FieldError
	switch {
	case hasLeast == hasMost || err != nil || err2 != nil:
	case hasLeast && clusterMost > 0 && least > clusterMost:
		warning = apis.ErrGeneric(fmt.Sprintf("min-scale=%d is more than the cluster's max-scale=%d, which counts", least, clusterMost),
			MinScaleAnnotationKey)
	case hasMost && most > 0 && most < clusterLeast:
		warning = apis.ErrGeneric(fmt.Sprintf("max-scale=%d counts, it is less than the cluster's min-scale=%d", most, clusterLeast),
			MaxScaleAnnotationKey)
	}
	return warning.At(apis.WarningLevel)
}

func validateMaxScaleLimit(most int32, limits Limits) *apis.FieldError {
	switch {
	case limits.MaxScaleLimit <= 0 || (most > 0 && most <= limits.MaxScaleLimit):
		return nil
	case most == 0:
		return apis.ErrGeneric(
			fmt.Sprintf("max-scale=0 (unlimited), must be less than %d", limits.MaxScaleLimit), MaxScaleAnnotationKey)
	default:
		return apis.ErrOutOfBoundsValue(most, 1, limits.MaxScaleLimit, MaxScaleAnnotationKey)
	}
}

func validateInitialScale(anns map[string]string, limits Limits) *apis.FieldError {
	k, v, ok := InitialScaleAnnotation().Get(anns)
	if !ok {
		return nil
	}
	n, err := scale(anns, InitialScaleAnnotation())
	if err == nil && n == 0 && !limits.AllowZeroInitialScale {
		return apis.ErrInvalidValue(v, k+"=0 not allowed by cluster")
	}
	return err
}

func validateMetric(anns map[string]string) *apis.FieldError {
	k, metric, ok := MetricAnnotation().Get(anns)
	if !ok {
		return nil
	}
	class, known := anns[ClassAnnotationKey]
	if !known {
		class = KPA
	}
	switch class {
	case KPA:
		if metric != Concurrency && metric != RPS {
			return apis.ErrInvalidValue(metric, k)
		}
	case HPA:
		if metric == "" {
			return apis.ErrInvalidValue(metric, k)
		}
	}
	return nil
}

// number reads a number in [low, high].
func number(anns map[string]string, key kmap.KeyPriority, low, high float64) *apis.FieldError {
	k, v, ok := key.Get(anns)
	if !ok {
		return nil
	}
	n, err := strconv.ParseFloat(v, 64)
	if err != nil || math.IsNaN(n) {
		return apis.ErrInvalidValue(v, k)
	}
	if n < low || n > high {
		return apis.ErrOutOfBoundsValue(v, low, high, k)
	}
	return nil
}

func validateTargets(anns map[string]string) *apis.FieldError {
	errs := number(anns, TargetUtilizationPercentageAnnotation(), 1, 100)
	if k, v, ok := TargetAnnotation().Get(anns); ok {
		n, err := strconv.ParseFloat(v, 64)
		switch {
		case err != nil || math.IsNaN(n) || math.IsInf(n, 0):
			errs = errs.Also(apis.ErrInvalidValue(v, k))
		case n < TargetMin:
			errs = errs.Also(apis.ErrGeneric(fmt.Sprintf("target %s should be at least %g", v, TargetMin), k))
		}
	}
	if k, v, ok := TargetBurstCapacityAnnotation().Get(anns); ok {
		n, err := strconv.ParseFloat(v, 64)
		if err != nil || math.IsNaN(n) || (n < 0 && n != -1) {
			errs = errs.Also(apis.ErrInvalidValue(v, k))
		}
	}
	return errs
}

// duration reads a duration in [low, high], in whole seconds if asked.
func duration(anns map[string]string, key kmap.KeyPriority, low, high time.Duration, wholeSeconds bool) *apis.FieldError {
	k, v, ok := key.Get(anns)
	if !ok {
		return nil
	}
	d, err := time.ParseDuration(v)
	switch {
	case err != nil:
		return apis.ErrInvalidValue(v, k)
	case d < low || d > high:
		return apis.ErrOutOfBoundsValue(v, low, high, k)
	case wholeSeconds && d%time.Second != 0:
		return apis.ErrGeneric("must be specified with at most second precision", k)
	}
	return nil
}

func validateTimes(anns map[string]string) *apis.FieldError {
	return duration(anns, WindowAnnotation(), WindowMin, WindowMax, true).
		Also(duration(anns, ScaleDownDelayAnnotation(), 0, WindowMax, true)).
		Also(duration(anns, ScaleToZeroPodRetentionPeriodAnnotation(), 0, WindowMax, false))
}

func validatePanic(anns map[string]string) *apis.FieldError {
	return number(anns, PanicWindowPercentageAnnotation(), PanicWindowPercentageMin, PanicWindowPercentageMax).
		Also(number(anns, PanicThresholdPercentageAnnotation(), PanicThresholdPercentageMin, PanicThresholdPercentageMax))
}

// validateAlgorithm checks the averaging of the class that is named and ours;
// other classes may have others.
func validateAlgorithm(anns map[string]string) *apis.FieldError {
	k, v, ok := MetricAggregationAlgorithmAnnotation().Get(anns)
	if !ok || anns[ClassAnnotationKey] != KPA {
		return nil
	}
	switch v {
	case MetricAggregationAlgorithmLinear, MetricAggregationAlgorithmWeightedExponential, "weightedExponential":
		return nil
	}
	return apis.ErrInvalidValue(v, k)
}
