// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"
	"fmt"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"weir.dev/api/config"
	"weir.dev/api/serving"
	"weir.dev/pkg/apis"
)

// Validate checks the metadata and the traffic.
func (r *Route) Validate(ctx context.Context) *apis.FieldError {
	if apis.IsInStatusUpdate(ctx) {
		return nil
	}
	errs := serving.ValidateObjectMetadata(r).
		Also(serving.ValidateOwnerLabel(r, serving.ServiceLabelKey, "Service")).
		ViaField("metadata")
	errs = errs.Also(r.Spec.Validate(apis.WithinSpec(apis.WithinParent(ctx, r.ObjectMeta))).ViaField("spec"))

	if old, ok := apis.GetBaseline(ctx).(*Route); ok && apis.IsInUpdate(ctx) && len(r.OwnerReferences) == 0 {
		errs = errs.Also(serving.ValidateCreatorAndModifier(old.Spec, r.Spec, old.Annotations, r.Annotations))
	}
	return errs
}

// Validate checks a Route's traffic.
func (rs *RouteSpec) Validate(ctx context.Context) *apis.FieldError {
	return rs.validate(ctx, (*TrafficTarget).validateInRoute)
}

// validate checks the traffic; the kind around it says what a target is.
func (rs *RouteSpec) validate(ctx context.Context, target func(*TrafficTarget, context.Context) *apis.FieldError) *apis.FieldError {
	var errs *apis.FieldError
	first := map[string]int{}
	sum := int64(0)
	for i := range rs.Traffic {
		tt := &rs.Traffic[i]
		errs = errs.Also(tt.validate(ctx).Also(target(tt, ctx)).ViaFieldIndex("traffic", i))
		if tt.Percent != nil {
			sum += *tt.Percent
		}
		if tt.Tag == "" {
			continue
		}
		if j, seen := first[tt.Tag]; seen {
			errs = errs.Also(apis.ErrGeneric(fmt.Sprintf("Multiple definitions for %q", tt.Tag),
				fmt.Sprintf("traffic[%d].tag", j), fmt.Sprintf("traffic[%d].tag", i)))
			continue
		}
		first[tt.Tag] = i
	}
	if sum != 100 {
		errs = errs.Also(apis.ErrGeneric(fmt.Sprintf("Traffic targets sum to %d, want 100", sum), "traffic"))
	}
	return errs
}

// validate checks what all kinds ask of a target.
func (tt *TrafficTarget) validate(ctx context.Context) *apis.FieldError {
	var errs *apis.FieldError
	if tt.Percent != nil && (*tt.Percent < 0 || *tt.Percent > 100) {
		errs = errs.Also(apis.ErrOutOfBoundsValue(*tt.Percent, 0, 100, "percent"))
	}
	if tt.Tag != "" {
		errs = errs.Also(tt.validateTag(ctx))
	}
	if latest := tt.LatestRevision; latest != nil && *latest == (tt.RevisionName != "") {
		errs = errs.Also(apis.ErrGeneric(fmt.Sprintf(
			"may not set revisionName %q when latestRevision is %t", tt.RevisionName, *latest), "latestRevision"))
	}
	if tt.URL != nil {
		errs = errs.Also(apis.ErrDisallowedFields("url"))
	}
	return errs.Also(validateTargetName(tt.RevisionName, "revisionName")).
		Also(validateTargetName(tt.ConfigurationName, "configurationName"))
}

// validateTag checks the tag, and that it makes a host together with the name of
// the Route, which is the parent's. That name is not known before the API server
// has made it.
func (tt *TrafficTarget) validateTag(ctx context.Context) *apis.FieldError {
	if msgs := apivalidation.NameIsDNS1035Label(tt.Tag, false); len(msgs) > 0 {
		return apis.ErrGeneric("not a DNS 1035 label: "+strings.Join(msgs, ", "), "tag")
	}
	parent := apis.ParentMeta(ctx).Name
	if parent == "" {
		return nil
	}
	host, err := config.FromContextOrDefaults(ctx).Network.TagName(tt.Tag, parent)
	if err != nil || len(host) <= validation.DNS1035LabelMaxLength {
		return nil // a template that fails is the operator's business, and the Route tells
	}
	return apis.ErrGeneric(fmt.Sprintf("the tag's host would begin with %q, which has %d characters, must be no more than %d",
		host, len(host), validation.DNS1035LabelMaxLength), "tag")
}

func validateTargetName(name, field string) *apis.FieldError {
	if name == "" {
		return nil
	}
	if msgs := validation.IsQualifiedName(name); len(msgs) > 0 {
		return apis.ErrInvalidKeyName(name, field, msgs...)
	}
	return nil
}

// validateInRoute asks for one target: a Route has no Configuration of its own.
func (tt *TrafficTarget) validateInRoute(context.Context) *apis.FieldError {
	switch {
	case tt.RevisionName != "" && tt.ConfigurationName != "":
		return apis.ErrMultipleOneOf("revisionName", "configurationName")
	case tt.RevisionName == "" && tt.ConfigurationName == "":
		return apis.ErrMissingOneOf("revisionName", "configurationName")
	default:
		return nil
	}
}

// validateInService permits no Configuration but the Service's own.
func (tt *TrafficTarget) validateInService(context.Context) *apis.FieldError {
	if tt.ConfigurationName != "" {
		return apis.ErrDisallowedFields("configurationName")
	}
	return nil
}
