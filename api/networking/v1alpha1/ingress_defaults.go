// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"context"

	"weir.dev/pkg/apis"
)

// SetDefaults sets the visibility, the percentage of single splits and the
// namespace of backends.
func (i *Ingress) SetDefaults(ctx context.Context) {
	i.Spec.SetDefaults(apis.WithinParent(apis.WithinSpec(ctx), i.ObjectMeta))
}

// SetDefaults sets the defaults of all rules.
func (s *IngressSpec) SetDefaults(ctx context.Context) {
	for i := range s.TLS {
		if s.TLS[i].SecretNamespace == "" {
			s.TLS[i].SecretNamespace = apis.ParentMeta(ctx).Namespace
		}
	}
	for i := range s.Rules {
		s.Rules[i].SetDefaults(ctx)
	}
	if s.HTTPOption == "" {
		s.HTTPOption = HTTPOptionEnabled
	}
}

// SetDefaults makes the rule public and fills in its paths.
func (r *IngressRule) SetDefaults(ctx context.Context) {
	if r.Visibility == "" {
		r.Visibility = IngressVisibilityExternalIP
	}
	if r.HTTP == nil {
		return
	}
	for i := range r.HTTP.Paths {
		r.HTTP.Paths[i].SetDefaults(ctx)
	}
}

// SetDefaults gives a single split everything and each split a namespace.
func (p *HTTPIngressPath) SetDefaults(ctx context.Context) {
	if len(p.Splits) == 1 && p.Splits[0].Percent == 0 {
		p.Splits[0].Percent = 100
	}
	for i := range p.Splits {
		if p.Splits[i].ServiceNamespace == "" {
			p.Splits[i].ServiceNamespace = apis.ParentMeta(ctx).Namespace
		}
	}
}
