// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"weir.dev/api/config"
	"weir.dev/pkg/apis"
)

// Validate says what is wrong with a pod.
func Validate(ctx context.Context, ps *corev1.PodSpec) *apis.FieldError {
	features := config.FromContextOrDefaults(ctx).Features
	errs := only(ps, allowedFields(features)...)
	if ps.AutomountServiceAccountToken != nil && *ps.AutomountServiceAccountToken {
		errs = errs.Also(apis.ErrInvalidValue(true, "automountServiceAccountToken"))
	}
	if name := ps.ServiceAccountName; name != "" {
		if msgs := validation.IsDNS1123Subdomain(name); len(msgs) > 0 {
			errs = errs.Also(apis.ErrInvalidValue(name, "serviceAccountName", joined(msgs)))
		}
	}
	return errs.
		Also(validatePodSecurityContext(ps.SecurityContext, features).ViaField("securityContext")).
		Also(validateVolumes(ps, features)).
		Also(validateContainers(ps, features)).
		Also(validateInitContainers(ps, features))
}

func allowedFields(f *config.Features) []string {
	securityContext := f.PodSpecSecurityContext
	if f.SecurePodDefaults != config.Disabled {
		securityContext = config.Enabled
	}
	return append([]string{
		"containers", "volumes", "serviceAccountName", "imagePullSecrets", "enableServiceLinks",
		"automountServiceAccountToken",
	}, open([]gate{
		{"affinity", f.PodSpecAffinity},
		{"topologySpreadConstraints", f.PodSpecTopologySpreadConstraints},
		{"hostAliases", f.PodSpecHostAliases},
		{"nodeSelector", f.PodSpecNodeSelector},
		{"tolerations", f.PodSpecTolerations},
		{"runtimeClassName", f.PodSpecRuntimeClassName},
		{"securityContext", securityContext},
		{"shareProcessNamespace", f.PodSpecShareProcessNamespace},
		{"priorityClassName", f.PodSpecPriorityClassName},
		{"schedulerName", f.PodSpecSchedulerName},
		{"initContainers", config.Enabled}, // its own message, see validateInitContainers
		{"dnsPolicy", f.PodSpecDNSPolicy},
		{"dnsConfig", f.PodSpecDNSConfig},
		{"hostIPC", f.PodSpecHostIPC},
		{"hostPID", f.PodSpecHostPID},
		{"hostNetwork", f.PodSpecHostNetwork},
	})...)
}

// serving returns the index of the container that takes the requests: the only
// one, or the first with a port. -1 if there is none.
func serving(containers []corev1.Container) int {
	if len(containers) == 1 {
		return 0
	}
	for i := range containers {
		if len(containers[i].Ports) > 0 {
			return i
		}
	}
	return -1
}

func validateContainers(ps *corev1.PodSpec, f *config.Features) *apis.FieldError {
	switch {
	case len(ps.Containers) == 0:
		return apis.ErrMissingField("containers")
	case len(ps.Containers) > 1 && f.MultiContainer != config.Enabled:
		return apis.ErrGeneric(
			fmt.Sprintf("multi-container is off, but found %d containers", len(ps.Containers)), "containers")
	}
	errs := validatePortCount(ps)
	main := serving(ps.Containers)
	if main < 0 {
		errs = errs.Also(apis.ErrMissingField("containers.ports"))
	}
	names := map[string]bool{}
	for i := range ps.Containers {
		c := container{Container: &ps.Containers[i], pod: ps, features: f, role: sidecar}
		if i == main {
			c.role = servingRole
		}
		errs = errs.Also(c.validate(names).ViaFieldIndex("containers", i))
	}
	return errs
}

func validateInitContainers(ps *corev1.PodSpec, f *config.Features) *apis.FieldError {
	if n := len(ps.InitContainers); n > 0 && f.PodSpecInitContainers != config.Enabled {
		return apis.ErrGeneric(fmt.Sprintf(
			"pod spec support for init-containers is off, but found %d init containers", n), "initContainers")
	}
	names := map[string]bool{}
	for i := range ps.Containers {
		names[ps.Containers[i].Name] = true
	}
	var errs *apis.FieldError
	for i := range ps.InitContainers {
		c := container{Container: &ps.InitContainers[i], pod: ps, features: f, role: initRole}
		errs = errs.Also(c.validate(names).ViaFieldIndex("initContainers", i))
	}
	return errs
}

// validatePortCount checks that requests have one way into the pod.
func validatePortCount(ps *corev1.PodSpec) *apis.FieldError {
	var paths []string
	count := 0
	for i := range ps.Containers {
		if n := len(ps.Containers[i].Ports); n > 0 {
			count += n
			paths = append(paths, fmt.Sprintf("containers[%d].ports", i))
		}
	}
	if count <= 1 {
		return nil
	}
	return &apis.FieldError{
		Message: "more than one container port is set",
		Paths:   paths,
		Details: "Only a single port is allowed across all containers",
	}
}
