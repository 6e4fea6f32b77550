// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"context"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"weir.dev/api/config"
	"weir.dev/pkg/apis"
)

func validateID(id *int64, field string) *apis.FieldError {
	if id == nil || (*id >= 0 && *id <= math.MaxInt32) {
		return nil
	}
	return apis.ErrOutOfBoundsValue(*id, 0, math.MaxInt32, field)
}

func validatePodSecurityContext(sc *corev1.PodSecurityContext, f *config.Features) *apis.FieldError {
	full := f.PodSpecSecurityContext != config.Disabled
	if sc == nil || (!full && f.SecurePodDefaults == config.Disabled) {
		return nil // the pod's mask has complained
	}
	errs := only(sc, "runAsUser", "runAsGroup", "runAsNonRoot", "fsGroup", "supplementalGroups", "seccompProfile").
		Also(validateID(sc.RunAsUser, "runAsUser")).
		Also(validateID(sc.RunAsGroup, "runAsGroup")).
		Also(validateID(sc.FSGroup, "fsGroup"))
	for i := range sc.SupplementalGroups {
		errs = errs.Also(validateID(&sc.SupplementalGroups[i], apis.CurrentField).ViaFieldIndex("supplementalGroups", i))
	}
	if p := sc.SeccompProfile; p != nil && !full {
		if p.Type != corev1.SeccompProfileTypeRuntimeDefault && p.Type != corev1.SeccompProfileTypeUnconfined {
			errs = errs.Also(apis.ErrInvalidValue(p.Type, "seccompProfile.type"))
		}
	}
	return errs
}

func validateSecurityContext(sc *corev1.SecurityContext, f *config.Features) *apis.FieldError {
	if sc == nil {
		return nil
	}
	errs := only(sc, "readOnlyRootFilesystem", "runAsUser", "runAsGroup", "runAsNonRoot",
		"allowPrivilegeEscalation", "seccompProfile", "privileged", "capabilities").
		Also(validateID(sc.RunAsUser, "runAsUser")).
		Also(validateID(sc.RunAsGroup, "runAsGroup"))
	if sc.Privileged != nil && *sc.Privileged {
		errs = errs.Also(apis.ErrInvalidValue(true, "privileged"))
	}
	if sc.Capabilities != nil && len(sc.Capabilities.Add) > 0 && !mayAdd(sc.Capabilities.Add, f) {
		errs = errs.Also(apis.ErrDisallowedFields("capabilities.add"))
	}
	return errs
}

func mayAdd(add []corev1.Capability, f *config.Features) bool {
	return mustBe(f.ContainerSpecAddCapabilities) ||
		(f.SecurePodDefaults != config.Disabled && slices.Equal(add, []corev1.Capability{"NET_BIND_SERVICE"}))
}

const insecureDefault = "Kubernetes default value is insecure, Knative may default this to secure in a future release"

// Warnings tells what would be safer. Never an error.
func Warnings(ctx context.Context, ps *corev1.PodSpec) *apis.FieldError {
	if config.FromContextOrDefaults(ctx).Features.SecurePodDefaults != config.Disabled {
		return nil
	}
	var errs *apis.FieldError
	for i := range ps.Containers {
		errs = errs.Also(insecure(ps.SecurityContext, ps.Containers[i].SecurityContext).
			ViaField("securityContext").ViaFieldIndex("containers", i))
	}
	return errs.At(apis.WarningLevel)
}

func insecure(pod *corev1.PodSecurityContext, sc *corev1.SecurityContext) *apis.FieldError {
	if pod == nil {
		pod = &corev1.PodSecurityContext{}
	}
	if sc == nil {
		sc = &corev1.SecurityContext{}
	}
	var errs *apis.FieldError
	warn := func(unset bool, field string) {
		if unset {
			errs = errs.Also(apis.ErrGeneric(insecureDefault, field))
		}
	}
	warn(sc.RunAsNonRoot == nil && pod.RunAsNonRoot == nil, "runAsNonRoot")
	warn(sc.AllowPrivilegeEscalation == nil, "allowPrivilegeEscalation")
	if p := sc.SeccompProfile; p != nil {
		warn(p.Type == "", "seccompProfile.type")
	} else {
		warn(pod.SeccompProfile == nil, "seccompProfile")
	}
	if sc.Capabilities == nil {
		warn(true, "capabilities")
		return errs
	}
	warn(sc.Capabilities.Drop == nil, "capabilities.drop")
	if len(sc.Capabilities.Drop) > 0 && sc.Capabilities.Drop[0] == "all" {
		errs = errs.Also(apis.ErrGeneric("Must be spelled as 'ALL'", "capabilities.drop"))
	}
	return errs
}
