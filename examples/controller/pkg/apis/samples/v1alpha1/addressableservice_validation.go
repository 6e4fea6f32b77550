// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"context"

	"weir.dev/pkg/apis"
)

// Validate implements apis.Validatable.
func (a *AddressableService) Validate(ctx context.Context) *apis.FieldError {
	return a.Spec.Validate(ctx).ViaField("spec")
}

// Validate implements apis.Validatable.
func (s *AddressableServiceSpec) Validate(context.Context) *apis.FieldError {
	var errs *apis.FieldError
	if s.ServiceName == "" {
		errs = errs.Also(apis.ErrMissingField("serviceName"))
	}
	if s.Scheme != "http" && s.Scheme != "https" {
		errs = errs.Also(apis.ErrInvalidValue(s.Scheme, "scheme"))
	}
	return errs
}
