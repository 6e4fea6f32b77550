// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"context"
	"fmt"

	"weir.dev/pkg/apis"
)

// Validate checks the rules.
func (i *Ingress) Validate(ctx context.Context) *apis.FieldError {
	if apis.IsInStatusUpdate(ctx) {
		return nil
	}
	return i.Spec.Validate(apis.WithinParent(apis.WithinSpec(ctx), i.ObjectMeta)).ViaField("spec")
}

// Validate checks that there are rules and that each leads somewhere.
func (s *IngressSpec) Validate(ctx context.Context) *apis.FieldError {
	if len(s.Rules) == 0 {
		return apis.ErrMissingField("rules")
	}
	var errs *apis.FieldError
	for i := range s.Rules {
		errs = errs.Also(s.Rules[i].Validate(ctx).ViaFieldIndex("rules", i))
	}
	for i := range s.TLS {
		errs = errs.Also(s.TLS[i].Validate(ctx).ViaFieldIndex("tls", i))
	}
	return errs
}

// Validate checks that the certificate can be found.
func (t *IngressTLS) Validate(context.Context) *apis.FieldError {
	var errs *apis.FieldError
	if t.SecretName == "" {
		errs = errs.Also(apis.ErrMissingField("secretName"))
	}
	if t.SecretNamespace == "" {
		errs = errs.Also(apis.ErrMissingField("secretNamespace"))
	}
	return errs
}

// Validate checks that the rule has paths.
func (r *IngressRule) Validate(ctx context.Context) *apis.FieldError {
	if r.HTTP == nil {
		return apis.ErrMissingField("http")
	}
	if len(r.HTTP.Paths) == 0 {
		return apis.ErrMissingField("http.paths")
	}
	var errs *apis.FieldError
	for i := range r.HTTP.Paths {
		errs = errs.Also(r.HTTP.Paths[i].Validate(ctx).ViaFieldIndex("paths", i).ViaField("http"))
	}
	return errs
}

// Validate checks that the shares of the backends sum up.
func (p *HTTPIngressPath) Validate(ctx context.Context) *apis.FieldError {
	if len(p.Splits) == 0 {
		return apis.ErrMissingField("splits")
	}
	var errs *apis.FieldError
	total := 0
	for i := range p.Splits {
		errs = errs.Also(p.Splits[i].Validate(ctx).ViaFieldIndex("splits", i))
		total += p.Splits[i].Percent
	}
	if total != 100 {
		errs = errs.Also(&apis.FieldError{
			Message: "traffic split percentage must total to 100, but was " + fmt.Sprint(total),
			Paths:   []string{"splits"},
		})
	}
	return errs
}

// Validate checks the share and the backend.
func (s *IngressBackendSplit) Validate(ctx context.Context) *apis.FieldError {
	var errs *apis.FieldError
	if s.Percent < 0 || s.Percent > 100 {
		errs = errs.Also(apis.ErrInvalidValue(s.Percent, "percent"))
	}
	return errs.Also(s.IngressBackend.Validate(ctx))
}

// Validate checks that the backend is complete and in the same namespace.
func (b *IngressBackend) Validate(ctx context.Context) *apis.FieldError {
	var errs *apis.FieldError
	if b.ServiceNamespace == "" {
		errs = errs.Also(apis.ErrMissingField("serviceNamespace"))
	} else if ns := apis.ParentMeta(ctx).Namespace; ns != "" && ns != b.ServiceNamespace {
		errs = errs.Also(&apis.FieldError{
			Message: "service namespace must match ingress namespace",
			Paths:   []string{"serviceNamespace"},
		})
	}
	if b.ServiceName == "" {
		errs = errs.Also(apis.ErrMissingField("serviceName"))
	}
	if b.ServicePort.IntValue() == 0 && b.ServicePort.StrVal == "" {
		errs = errs.Also(apis.ErrMissingField("servicePort"))
	}
	return errs
}

// SupportedSubResources implements resourcesemantics.SubResourceLimited: nothing
// in a status is defaulted or checked beyond its schema.
func (*Ingress) SupportedSubResources() []string { return []string{""} }
