// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"

	"weir.dev/api/serving"
	"weir.dev/pkg/apis"
)

// Validate checks the metadata, the template and the traffic.
func (s *Service) Validate(ctx context.Context) *apis.FieldError {
	if apis.IsInStatusUpdate(ctx) {
		return nil
	}
	errs := serving.ValidateObjectMetadata(s).ViaField("metadata")
	ctx = apis.WithinParent(ctx, s.ObjectMeta)
	errs = errs.Also(s.Spec.Validate(apis.WithinSpec(ctx)).ViaField("spec"))

	old, ok := apis.GetBaseline(ctx).(*Service)
	if !ok || !apis.IsInUpdate(ctx) {
		return errs
	}
	return errs.
		Also(serving.ValidateCreatorAndModifier(old.Spec, s.Spec, old.Annotations, s.Annotations)).
		Also(s.Spec.Template.VerifyNameChange(ctx, &old.Spec.Template).ViaField("spec", "template"))
}

// Validate checks the template and the traffic.
func (ss *ServiceSpec) Validate(ctx context.Context) *apis.FieldError {
	return ss.ConfigurationSpec.Validate(ctx).
		Also(ss.validate(ctx, (*TrafficTarget).validateInService))
}
