// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"weir.dev/pkg/apis"
)

func (c container) validateProbes() *apis.FieldError {
	var errs *apis.FieldError
	for field, probe := range map[string]*corev1.Probe{
		"livenessProbe": c.LivenessProbe, "readinessProbe": c.ReadinessProbe, "startupProbe": c.StartupProbe,
	} {
		switch {
		case probe == nil:
		case c.role == initRole:
			errs = errs.Also(apis.ErrGeneric("field not allowed in an init container", field))
		case c.role == sidecar && !mustBe(c.features.MultiContainerProbing):
			errs = errs.Also(apis.ErrDisallowedFields(field))
		default:
			errs = errs.Also(c.validateProbe(probe).ViaField(field))
		}
	}
	if c.ReadinessProbe != nil && c.role != initRole {
		errs = errs.Also(validateReadiness(c.ReadinessProbe).ViaField("readinessProbe"))
	}
	return errs
}

func (c container) validateProbe(p *corev1.Probe) *apis.FieldError {
	errs := only(p, "exec", "httpGet", "tcpSocket", "grpc", "initialDelaySeconds", "timeoutSeconds",
		"periodSeconds", "successThreshold", "failureThreshold", "terminationGracePeriodSeconds")
	var handlers []string
	if h := p.HTTPGet; h != nil {
		handlers = append(handlers, "httpGet")
		errs = errs.Also(c.validateProbePort(h.Port).ViaField("httpGet"))
	}
	if h := p.TCPSocket; h != nil {
		handlers = append(handlers, "tcpSocket")
		errs = errs.Also(c.validateProbePort(h.Port).ViaField("tcpSocket"))
	}
	if p.Exec != nil {
		handlers = append(handlers, "exec")
	}
	if p.GRPC != nil {
		handlers = append(handlers, "grpc")
	}
	return errs.Also(exactlyOne(handlers, "httpGet", "tcpSocket", "exec", "grpc"))
}

// validateProbePort checks the port: the serving container's own is meant
// where none is given, others have to say.
func (c container) validateProbePort(port intstr.IntOrString) *apis.FieldError {
	if c.role == sidecar {
		if port == intstr.FromInt32(0) || (port.Type == intstr.String && port.StrVal == "") {
			return apis.ErrInvalidValue(port.String(), "port", "Probe port must be specified")
		}
		return nil
	}
	if port.Type == intstr.Int || port.StrVal == "" {
		return nil
	}
	name := "http"
	if len(c.Ports) > 0 && c.Ports[0].Name != "" {
		name = c.Ports[0].Name
	}
	if port.StrVal != name {
		return apis.ErrInvalidValue(port.String(), "port", "Probe port must match container port")
	}
	return nil
}

func validateReadiness(p *corev1.Probe) *apis.FieldError {
	var errs *apis.FieldError
	atLeastOne := func(value int32, field string) {
		if value < 1 {
			errs = errs.Also(apis.ErrOutOfBoundsValue(value, 1, math.MaxInt32, field))
		}
	}
	atLeastOne(p.SuccessThreshold, "successThreshold")
	switch {
	case p.PeriodSeconds < 0:
		errs = errs.Also(apis.ErrOutOfBoundsValue(p.PeriodSeconds, 0, math.MaxInt32, "periodSeconds"))
	case p.PeriodSeconds > 0:
		atLeastOne(p.TimeoutSeconds, "timeoutSeconds")
		atLeastOne(p.FailureThreshold, "failureThreshold")
	default:
		errs = errs.Also(disallowedWithoutPeriod(p.FailureThreshold, "failureThreshold")).
			Also(disallowedWithoutPeriod(p.TimeoutSeconds, "timeoutSeconds"))
	}
	return errs
}

func disallowedWithoutPeriod(value int32, field string) *apis.FieldError {
	if value == 0 {
		return nil
	}
	return apis.ErrGeneric(field+" is disallowed when periodSeconds is zero", field)
}
