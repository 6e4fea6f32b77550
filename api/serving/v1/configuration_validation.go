// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"

	"weir.dev/api/serving"
	"weir.dev/pkg/apis"
)

// Validate checks the metadata and the template.
func (c *Configuration) Validate(ctx context.Context) *apis.FieldError {
	if apis.IsInStatusUpdate(ctx) {
		return nil
	}
	errs := serving.ValidateObjectMetadata(c).
		Also(serving.ValidateOwnerLabel(c, serving.ServiceLabelKey, "Service")).
		ViaField("metadata")
	ctx = apis.WithinParent(ctx, c.ObjectMeta)
	errs = errs.Also(c.Spec.Validate(apis.WithinSpec(ctx)).ViaField("spec")).Also(c.warnFollow())

	old, ok := apis.GetBaseline(ctx).(*Configuration)
	if !ok || !apis.IsInUpdate(ctx) {
		return errs
	}
	if len(c.OwnerReferences) == 0 {
		errs = errs.Also(serving.ValidateCreatorAndModifier(old.Spec, c.Spec, old.Annotations, c.Annotations))
	}
	return errs.Also(c.Spec.Template.VerifyNameChange(ctx, &old.Spec.Template).ViaField("spec", "template"))
}

// Validate checks the template.
func (cs *ConfigurationSpec) Validate(ctx context.Context) *apis.FieldError {
	return cs.Template.Validate(ctx).ViaField("template")
}

// warnFollow tells that the Service controller is who follows.
func (c *Configuration) warnFollow() *apis.FieldError {
	if len(c.OwnerReferences) > 0 || !serving.Follows(c.Spec.Template.Annotations) {
		return nil
	}
	return apis.ErrGeneric("weir.dev/follow annotations have no effect without a Service",
		"spec.template.metadata.annotations").At(apis.WarningLevel)
}
