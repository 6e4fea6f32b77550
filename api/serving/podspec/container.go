// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation"
	"weir.dev/api/config"
	"weir.dev/api/networking"
	"weir.dev/pkg/apis"
)

// role is what a container does in its pod.
type role int

const (
	// servingRole takes the requests.
	servingRole role = iota
	// sidecar runs beside it.
	sidecar
	// initRole runs before it.
	initRole
)

// container is a container with what its rules depend on.
type container struct {
	*corev1.Container
	pod      *corev1.PodSpec
	features *config.Features
	role     role
}

// reservedContainerName is upstream's sidecar, kept free so that the same YAML
// works there.
const reservedContainerName = "queue-proxy"

// validate checks the container; names are those seen before it.
func (c container) validate(names map[string]bool) *apis.FieldError {
	if equality.Semantic.DeepEqual(*c.Container, corev1.Container{}) {
		return apis.ErrMissingField(apis.CurrentField)
	}
	return only(c.Container, "name", "image", "args", "command", "workingDir", "imagePullPolicy",
		"terminationMessagePath", "terminationMessagePolicy", "env", "envFrom", "ports", "resources",
		"livenessProbe", "readinessProbe", "startupProbe", "securityContext", "volumeMounts").
		Also(c.validateName(names)).
		Also(validateImage(c.Image)).
		Also(c.validatePolicies()).
		Also(c.validateEnv()).
		Also(c.validatePorts()).
		Also(validateResources(&c.Resources).ViaField("resources")).
		Also(c.validateProbes()).
		Also(validateSecurityContext(c.SecurityContext, c.features).ViaField("securityContext")).
		Also(c.validateMounts())
}

func (c container) validateName(names map[string]bool) *apis.FieldError {
	name := c.Name
	if name == "" {
		return nil
	}
	var errs *apis.FieldError
	if name == reservedContainerName {
		errs = errs.Also(apis.ErrGeneric(fmt.Sprintf("%q is a reserved container name", name), "name"))
	}
	if msgs := validation.IsDNS1123Label(name); len(msgs) > 0 {
		errs = errs.Also(apis.ErrInvalidValue(name, "name", joined(msgs)))
	}
	if names[name] {
		errs = errs.Also(apis.ErrGeneric(fmt.Sprintf("duplicate container name %q", name), "name"))
	}
	names[name] = true
	return errs
}

func validateImage(image string) *apis.FieldError {
	if image == "" {
		return apis.ErrMissingField("image")
	}
	if err := checkReference(image); err != nil {
		return &apis.FieldError{
			Message: "Failed to parse image reference",
			Paths:   []string{"image"},
			Details: fmt.Sprintf("image: %q, error: %v", image, err),
		}
	}
	return nil
}

func (c container) validatePolicies() *apis.FieldError {
	var errs *apis.FieldError
	switch c.TerminationMessagePolicy {
	case "", corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError:
	default:
		errs = errs.Also(apis.ErrInvalidValue(c.TerminationMessagePolicy, "terminationMessagePolicy"))
	}
	switch c.ImagePullPolicy {
	case "", corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever:
	default:
		errs = errs.Also(apis.ErrInvalidValue(c.ImagePullPolicy, "imagePullPolicy"))
	}
	return errs
}

// isReservedPort says whether upstream's sidecar has the port: the same YAML is
// to work there.
func isReservedPort(port int32) bool {
	return slices.Contains([]int32{8008, 8012, 8013, 8022, 9090, 9091}, port)
}

func (c container) validatePorts() *apis.FieldError {
	var errs *apis.FieldError
	for i := range c.Ports {
		errs = errs.Also(validatePort(&c.Ports[i]).ViaFieldIndex("ports", i))
	}
	return errs
}

func validatePort(p *corev1.ContainerPort) *apis.FieldError {
	errs := only(p, "name", "containerPort", "protocol")
	if p.Protocol != "" && p.Protocol != corev1.ProtocolTCP {
		errs = errs.Also(apis.ErrInvalidValue(p.Protocol, "protocol"))
	}
	if p.ContainerPort < 0 || p.ContainerPort > math.MaxUint16 {
		errs = errs.Also(apis.ErrOutOfBoundsValue(p.ContainerPort, 0, math.MaxUint16, "containerPort"))
	}
	if isReservedPort(p.ContainerPort) {
		errs = errs.Also(apis.ErrGeneric(fmt.Sprintf("%d is a reserved port", p.ContainerPort), "containerPort"))
	}
	switch p.Name {
	case "", string(networking.ProtocolHTTP1), string(networking.ProtocolH2C):
	default:
		errs = errs.Also(&apis.FieldError{
			Message: fmt.Sprintf("Port name %s is not allowed", p.Name),
			Paths:   []string{"name"},
			Details: "Name must be empty, or one of: 'h2c', 'http1'",
		})
	}
	return errs
}
