// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"weir.dev/api/autoscaling"
	"weir.dev/api/config"
	"weir.dev/api/networking"
	"weir.dev/pkg/apis"
)

// Validate checks the annotations and the spec.
func (pa *PodAutoscaler) Validate(ctx context.Context) *apis.FieldError {
	if apis.IsInStatusUpdate(ctx) {
		return nil
	}
	return apis.ValidateObjectMetadata(pa).
		Also(autoscaling.ValidateAnnotations(pa.Annotations, pa.limits(ctx)).ViaField("annotations")).
		ViaField("metadata").
		Also(pa.Spec.Validate(apis.WithinSpec(ctx)).ViaField("spec"))
}

// limits are the operator's. They do not hold for a PodAutoscaler of a Revision:
// they held when that was made, and other ones must not leave it without.
func (pa *PodAutoscaler) limits(ctx context.Context) autoscaling.Limits {
	if metav1.GetControllerOf(pa) != nil {
		return autoscaling.Limits{AllowZeroInitialScale: true}
	}
	cfg := config.FromContextOrDefaults(ctx).Autoscaler
	return autoscaling.Limits{AllowZeroInitialScale: cfg.AllowZeroInitialScale, MaxScaleLimit: cfg.MaxScaleLimit}
}

// Validate checks that there is a target and that its properties are known.
func (s *PodAutoscalerSpec) Validate(ctx context.Context) *apis.FieldError {
	var errs *apis.FieldError
	for field, value := range map[string]string{
		"apiVersion": s.ScaleTargetRef.APIVersion,
		"kind":       s.ScaleTargetRef.Kind,
		"name":       s.ScaleTargetRef.Name,
	} {
		if value == "" {
			errs = errs.Also(apis.ErrMissingField(field).ViaField("scaleTargetRef"))
		}
	}
	if most := config.FromContextOrDefaults(ctx).Defaults.ContainerConcurrencyMaxLimit; s.ContainerConcurrency < 0 || s.ContainerConcurrency > most {
		errs = errs.Also(apis.ErrOutOfBoundsValue(s.ContainerConcurrency, 0, most, "containerConcurrency"))
	}
	switch s.ProtocolType {
	case "":
		errs = errs.Also(apis.ErrMissingField("protocolType"))
	case networking.ProtocolHTTP1, networking.ProtocolH2C:
	default:
		errs = errs.Also(apis.ErrInvalidValue(s.ProtocolType, "protocolType"))
	}
	switch s.Reachability {
	case ReachabilityUnknown, ReachabilityReachable, ReachabilityUnreachable:
	default:
		errs = errs.Also(apis.ErrInvalidValue(s.Reachability, "reachability"))
	}
	return errs
}

// SupportedSubResources implements resourcesemantics.SubResourceLimited: nothing
// in a status is defaulted or checked beyond its schema.
func (*PodAutoscaler) SupportedSubResources() []string { return []string{""} }
