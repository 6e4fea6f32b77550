// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"
	"fmt"
	"math"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"weir.dev/api/autoscaling"
	"weir.dev/api/config"
	"weir.dev/api/serving"
	"weir.dev/api/serving/podspec"
	"weir.dev/pkg/apis"
	"weir.dev/pkg/kmp"
)

// Validate checks a Revision, and that its spec is what it was.
func (r *Revision) Validate(ctx context.Context) *apis.FieldError {
	if apis.IsInStatusUpdate(ctx) {
		return nil
	}
	meta := apis.ValidateObjectMetadata(r).
		Also(serving.ValidateOwnerLabel(r, serving.ConfigurationLabelKey, "Configuration")).
		Also(validateTemplateAnnotations(ctx, r.Annotations, r.OwnerReferences).ViaField("annotations"))
	errs := meta.ViaField("metadata")
	if old, ok := apis.GetBaseline(ctx).(*Revision); ok && apis.IsInUpdate(ctx) {
		return errs.Also(r.validateImmutable(old))
	}
	return errs.Also(r.Spec.Validate(apis.WithinParent(ctx, r.ObjectMeta)).ViaField("spec"))
}

func (r *Revision) validateImmutable(old *Revision) *apis.FieldError {
	diff, err := kmp.ShortDiff(old.Spec, r.Spec)
	if err != nil {
		return &apis.FieldError{Message: "Failed to diff Revision", Paths: []string{"spec"}, Details: err.Error()}
	}
	if diff == "" {
		return nil
	}
	return &apis.FieldError{Message: "Immutable fields changed (-old +new)", Paths: []string{"spec"}, Details: diff}
}

// Validate checks the template's name, labels, annotations and spec. The
// parent's metadata is in the context. What else the template's metadata has is
// ignored: it is not the user's to say.
func (rt *RevisionTemplateSpec) Validate(ctx context.Context) *apis.FieldError {
	return rt.validateName(ctx).
		Also(validateLabels(rt.Labels).ViaField("labels")).
		Also(validateAnnotations(rt.Annotations).
			Also(validateTemplateAnnotations(ctx, rt.Annotations, apis.ParentMeta(ctx).OwnerReferences)).
			ViaField("annotations")).
		ViaField("metadata").
		Also(rt.Spec.Validate(apis.WithinSpec(ctx)).ViaField("spec"))
}

// validateTemplateAnnotations checks the annotations of a template or Revision.
// Warnings are for people, whose objects have no owner.
func validateTemplateAnnotations(ctx context.Context, anns map[string]string, owners []metav1.OwnerReference) *apis.FieldError {
	cfg := config.FromContextOrDefaults(ctx).Autoscaler
	errs := autoscaling.ValidateAnnotations(anns, autoscaling.Limits{
		AllowZeroInitialScale: cfg.AllowZeroInitialScale,
		MaxScaleLimit:         cfg.MaxScaleLimit,
	}).Also(serving.ValidateTemplateAnnotations(anns))
	if len(owners) > 0 {
		return errs
	}
	return errs.Also(serving.TemplateWarnings(anns)).Also(autoscaling.WarnBounds(anns, cfg.MinScale, cfg.MaxScale))
}

// validateName checks a chosen revision name: it begins with the parent's, so
// that nobody takes the names of another application.
func (rt *RevisionTemplateSpec) validateName(ctx context.Context) *apis.FieldError {
	if rt.Name == "" {
		return nil
	}
	parent := apis.ParentMeta(ctx)
	if parent.Name == "" && parent.GenerateName != "" {
		return apis.ErrDisallowedFields("name")
	}
	var errs *apis.FieldError
	if serving.Follows(rt.Annotations) {
		errs = errs.Also(apis.ErrGeneric("a Revision of this name can be made only once: remove the name, or the weir.dev/follow annotations", "name"))
	}
	if msgs := apivalidation.NameIsDNS1035Label(rt.Name, false); len(msgs) > 0 {
		errs = errs.Also(apis.ErrGeneric("not a DNS 1035 label: "+strings.Join(msgs, ", "), "name"))
	}
	if prefix := parent.Name + "-"; !strings.HasPrefix(rt.Name, prefix) {
		errs = errs.Also(apis.ErrGeneric(fmt.Sprintf("%q must have prefix %q", rt.Name, prefix), "name"))
	}
	return errs
}

// validateLabels checks the labels as the API server will check the Revision's:
// refused there, they would leave a Configuration without any.
func validateLabels(labels map[string]string) *apis.FieldError {
	var errs *apis.FieldError
	for key, value := range labels {
		if msgs := validation.IsQualifiedName(key); len(msgs) > 0 {
			errs = errs.Also(apis.ErrInvalidKeyName(key, apis.CurrentField, msgs...))
		}
		if msgs := validation.IsValidLabelValue(value); len(msgs) > 0 {
			errs = errs.Also(apis.ErrInvalidValue(value, key, msgs...))
		}
	}
	return errs
}

// validateAnnotations is validateLabels for annotations: the case of their keys
// does not matter, and their values may be anything, up to a size in all.
func validateAnnotations(anns map[string]string) *apis.FieldError {
	var errs *apis.FieldError
	for key := range anns {
		if msgs := validation.IsQualifiedName(strings.ToLower(key)); len(msgs) > 0 {
			errs = errs.Also(apis.ErrInvalidKeyName(key, apis.CurrentField, msgs...))
		}
	}
	if err := apivalidation.ValidateAnnotationsSize(anns); err != nil {
		errs = errs.Also(apis.ErrGeneric(err.Error(), apis.CurrentField))
	}
	return errs
}

// VerifyNameChange checks that a template with a chosen name is the same as
// before, or has another name.
func (rt *RevisionTemplateSpec) VerifyNameChange(_ context.Context, old *RevisionTemplateSpec) *apis.FieldError {
	if rt.Name == "" || rt.Name != old.Name {
		return nil
	}
	diff, err := kmp.ShortDiff(old, rt)
	if err != nil {
		return &apis.FieldError{Message: "Failed to diff RevisionTemplate", Paths: []string{"metadata.name"}, Details: err.Error()}
	}
	if diff == "" {
		return nil
	}
	return &apis.FieldError{
		Message: "Saw the following changes without a name change (-old +new)",
		Paths:   []string{"metadata.name"},
		Details: diff,
	}
}

// Validate checks the pod, the limit of requests and the timeouts.
func (rs *RevisionSpec) Validate(ctx context.Context) *apis.FieldError {
	d := config.FromContextOrDefaults(ctx).Defaults
	least := int64(0)
	if !d.AllowContainerConcurrencyZero {
		least = 1
	}
	return podspec.Validate(ctx, &rs.PodSpec).
		Also(rs.warnings(ctx)).
		Also(within(rs.ContainerConcurrency, least, d.ContainerConcurrencyMaxLimit, "containerConcurrency")).
		Also(within(rs.TimeoutSeconds, 0, d.MaxRevisionTimeoutSeconds, "timeoutSeconds")).
		Also(within(rs.ResponseStartTimeoutSeconds, 0, math.MaxInt32, "responseStartTimeoutSeconds")).
		Also(within(rs.IdleTimeoutSeconds, 0, math.MaxInt32, "idleTimeoutSeconds"))
}

// warnings are for people; what has an owner was written by a controller, which
// has nobody to tell.
func (rs *RevisionSpec) warnings(ctx context.Context) *apis.FieldError {
	if len(apis.ParentMeta(ctx).OwnerReferences) > 0 {
		return nil
	}
	return podspec.Warnings(ctx, &rs.PodSpec).
		Also(rs.warnUnreached(rs.ResponseStartTimeoutSeconds, "responseStartTimeoutSeconds")).
		Also(rs.warnUnreached(rs.IdleTimeoutSeconds, "idleTimeoutSeconds"))
}

// warnUnreached tells about a timeout that the timeout of the whole request
// forestalls. It is no error: such YAML works elsewhere, and here as if the
// timeout were not set.
func (rs *RevisionSpec) warnUnreached(timeout *int64, field string) *apis.FieldError {
	if timeout == nil || rs.TimeoutSeconds == nil || *timeout <= *rs.TimeoutSeconds {
		return nil
	}
	return apis.ErrGeneric(fmt.Sprintf("%d has no effect: timeoutSeconds (%d) ends the request before",
		*timeout, *rs.TimeoutSeconds), field).At(apis.WarningLevel)
}

func within(n *int64, low, high int64, field string) *apis.FieldError {
	if n == nil || (*n >= low && *n <= high) {
		return nil
	}
	return apis.ErrOutOfBoundsValue(*n, low, high, field)
}
