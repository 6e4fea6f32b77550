// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
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
			if field != "readinessProbe" {
				errs = errs.Also(validateNumbers(probe).ViaField(field))
			}
		}
	}
	if c.ReadinessProbe != nil && c.role != initRole {
		errs = errs.Also(validateReadiness(c.ReadinessProbe).ViaField("readinessProbe"))
	}
	return errs
}

func (c container) validateProbe(p *corev1.Probe) *apis.FieldError {
	errs := only(p, "exec", "httpGet", "tcpSocket", "grpc", "initialDelaySeconds", "timeoutSeconds",
		"periodSeconds", "successThreshold", "failureThreshold", "terminationGracePeriodSeconds").
		Also(inRange(p.InitialDelaySeconds, 0, math.MaxInt32, "initialDelaySeconds"))
	var handlers []string
	if h := p.HTTPGet; h != nil {
		handlers = append(handlers, "httpGet")
		errs = errs.Also(c.validateProbePort(h.Port).Also(validateHTTPGet(h)).ViaField("httpGet"))
	}
	if h := p.TCPSocket; h != nil {
		handlers = append(handlers, "tcpSocket")
		errs = errs.Also(c.validateProbePort(h.Port).ViaField("tcpSocket"))
	}
	if h := p.Exec; h != nil {
		handlers = append(handlers, "exec")
		if len(h.Command) == 0 {
			errs = errs.Also(apis.ErrMissingField("exec.command"))
		}
	}
	if h := p.GRPC; h != nil {
		handlers = append(handlers, "grpc")
		errs = errs.Also(inRange(h.Port, 0, math.MaxUint16, "port").ViaField("grpc"))
	}
	return errs.Also(exactlyOne(handlers, "httpGet", "tcpSocket", "exec", "grpc"))
}

// inRange checks a number that a pod bounds.
func inRange(n, low, high int32, field string) *apis.FieldError {
	if n >= low && n <= high {
		return nil
	}
	return apis.ErrOutOfBoundsValue(n, low, high, field)
}

// validateHTTPGet checks the request besides its port. No scheme and no path
// are Kubernetes' defaults.
func validateHTTPGet(get *corev1.HTTPGetAction) *apis.FieldError {
	var errs *apis.FieldError
	switch get.Scheme {
	case "", corev1.URISchemeHTTP, corev1.URISchemeHTTPS:
	default:
		errs = errs.Also(apis.ErrInvalidValue(get.Scheme, "scheme"))
	}
	for i := range get.HTTPHeaders {
		name := get.HTTPHeaders[i].Name
		if msgs := validation.IsHTTPHeaderName(name); len(msgs) > 0 {
			errs = errs.Also(apis.ErrInvalidValue(name, "name", joined(msgs)).ViaFieldIndex("httpHeaders", i))
		}
	}
	return errs
}

// validateProbePort checks the port: the serving container's own is meant
// where none is given, others have to say.
func (c container) validateProbePort(port intstr.IntOrString) *apis.FieldError {
	given := port.StrVal != "" || port.IntVal != 0
	if c.role == sidecar && !given {
		return apis.ErrInvalidValue(port.String(), "port", "Probe port must be specified")
	}
	if port.Type == intstr.Int {
		return inRange(port.IntVal, 0, math.MaxUint16, "port")
	}
	if c.role == sidecar || !given {
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

// validateNumbers checks what the API server would refuse in a pod; 0 is its
// default.
func validateNumbers(p *corev1.Probe) *apis.FieldError {
	return inRange(p.TimeoutSeconds, 0, math.MaxInt32, "timeoutSeconds").
		Also(inRange(p.PeriodSeconds, 0, math.MaxInt32, "periodSeconds")).
		Also(inRange(p.FailureThreshold, 0, math.MaxInt32, "failureThreshold")).
		Also(inRange(p.SuccessThreshold, 0, 1, "successThreshold"))
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
