// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"weir.dev/api/autoscaling"
	"weir.dev/api/networking"
	"weir.dev/pkg/apis"
	"weir.dev/pkg/kmap"
)

// ValidateObjectMetadata checks the metadata of a Service, Route or
// Configuration: its names, and the annotations that mean something there.
func ValidateObjectMetadata(meta metav1.Object) *apis.FieldError {
	var warnings *apis.FieldError
	if len(meta.GetOwnerReferences()) == 0 { // else nobody is there to be warned
		warnings = ObjectWarnings(meta.GetAnnotations())
	}
	return apis.ValidateObjectMetadata(meta).
		Also(validateMisplaced(meta.GetAnnotations()).
			Also(validateDuration(meta.GetAnnotations(), RolloutDurationAnnotation())).
			Also(validateRetain(meta.GetAnnotations())).
			Also(warnings).
			ViaField("annotations")).
		Also(validateVisibility(meta.GetLabels()).ViaField("labels"))
}

// validateMisplaced refuses autoscaling annotations where nobody reads them.
func validateMisplaced(anns map[string]string) *apis.FieldError {
	var errs *apis.FieldError
	for _, key := range autoscaling.Annotations(anns) {
		errs = errs.Also(&apis.FieldError{
			Message: fmt.Sprintf("invalid key name %q", key),
			Paths:   []string{key},
			Details: `autoscaling annotations must be put under "spec.template.metadata.annotations" to work`,
		})
	}
	return errs
}

func validateVisibility(labels map[string]string) *apis.FieldError {
	v, ok := labels[networking.VisibilityLabelKey]
	if !ok || v == networking.VisibilityClusterLocal {
		return nil
	}
	return apis.ErrInvalidValue(v, networking.VisibilityLabelKey)
}

// validateDuration checks a duration in whole seconds that is not negative.
func validateDuration(anns map[string]string, key kmap.KeyPriority) *apis.FieldError {
	k, v, ok := key.Get(anns)
	if !ok {
		return nil
	}
	d, err := time.ParseDuration(v)
	switch {
	case err != nil:
		return apis.ErrInvalidValue(v, k)
	case d%time.Second != 0:
		return apis.ErrGeneric(fmt.Sprintf("%s=%s is not at second precision", keyName(k), v), k)
	case d < 0:
		return apis.ErrGeneric(fmt.Sprintf("%s=%s must be positive", keyName(k), v), k)
	}
	return nil
}

func keyName(key string) string { return key[strings.LastIndexByte(key, '/')+1:] }

// ValidateTemplateAnnotations checks the annotations of a revision template
// besides those of autoscaling.
func ValidateTemplateAnnotations(anns map[string]string) *apis.FieldError {
	return validateDuration(anns, ProgressDeadlineAnnotation()).
		Also(validateDuration(anns, kmap.KeyPriority{DrainTimeoutAnnotationKey})).
		Also(validateFollow(anns)).
		Also(validateNetworking(anns)).
		Also(validateSidecar(anns))
}

// MinFollowTags is how often tags are looked up at most.
const MinFollowTags = 10 * time.Second

// validateFollow checks what makes Revisions without a change of the template.
func validateFollow(anns map[string]string) *apis.FieldError {
	var errs *apis.FieldError
	if v, ok := anns[FollowConfigAnnotationKey]; ok && v != "enabled" && v != "disabled" {
		errs = errs.Also(apis.ErrInvalidValue(v, FollowConfigAnnotationKey, `must be "enabled" or "disabled"`))
	}
	if v, ok := anns[FollowTagsAnnotationKey]; ok {
		if d, err := time.ParseDuration(v); err != nil || d < MinFollowTags {
			errs = errs.Also(apis.ErrInvalidValue(v, FollowTagsAnnotationKey, fmt.Sprintf("must be a duration of at least %s", MinFollowTags)))
		}
	}
	return errs
}

// Follows says whether a template with these annotations makes Revisions
// although it does not change.
func Follows(anns map[string]string) bool {
	_, tags := anns[FollowTagsAnnotationKey]
	return tags || anns[FollowConfigAnnotationKey] == "enabled"
}

func validateNetworking(anns map[string]string) *apis.FieldError {
	known := networkingAnnotations()
	var errs *apis.FieldError
	for key := range anns {
		if strings.HasPrefix(key, networking.PublicGroupName+"/") && !slices.Contains(known, key) {
			errs = errs.Also(apis.ErrInvalidKeyName(key, apis.CurrentField))
		}
	}
	return errs
}

// validateSidecar checks annotations that have no effect here, because the
// same YAML is to be good elsewhere.
func validateSidecar(anns map[string]string) *apis.FieldError {
	var errs *apis.FieldError
	if k, v, ok := QueueSidecarResourcePercentageAnnotation().Get(anns); ok {
		percent, err := strconv.ParseFloat(v, 64)
		switch {
		case err != nil:
			errs = errs.Also(apis.ErrInvalidValue(v, k))
		case !(percent >= 0.1 && percent <= 100):
			errs = errs.Also(apis.ErrOutOfBoundsValue(v, 0.1, 100, k))
		}
	}
	for _, name := range []string{"cpu", "memory", "ephemeral-storage"} {
		for _, bound := range []string{"request", "limit"} {
			key := QueueSidecarPrefix + name + "-resource-" + bound
			if v, ok := anns[key]; ok {
				if _, err := resource.ParseQuantity(v); err != nil {
					errs = errs.Also(apis.ErrInvalidValue(v, key))
				}
			}
		}
	}
	return errs
}

// ValidateOwnerLabel checks that an object with the label is owned by what the
// label names, so that nobody slips foreign objects under a name.
func ValidateOwnerLabel(meta metav1.Object, label, kind string) *apis.FieldError {
	name, ok := meta.GetLabels()[label]
	if !ok {
		return nil
	}
	for _, ref := range meta.GetOwnerReferences() {
		if ref.Kind == kind && ref.Name == name {
			return nil
		}
	}
	return apis.ErrMissingField(label).ViaField("labels")
}

// ValidateCreatorAndModifier checks the annotations that the webhook writes,
// against the stored object.
func ValidateCreatorAndModifier(oldSpec, newSpec any, oldAnns, newAnns map[string]string) *apis.FieldError {
	return apis.ValidateCreatorAndModifier(oldSpec, newSpec, oldAnns, newAnns, GroupName).
		ViaField("metadata", "annotations")
}
