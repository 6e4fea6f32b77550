// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"slices"
	"strconv"
	"strings"

	"weir.dev/api/autoscaling"
	"weir.dev/api/networking"
	"weir.dev/pkg/apis"
	"weir.dev/pkg/kmap"
)

// RetainRevisions reads how many unrouted Revisions a Service or Configuration
// keeps; all says that none of them goes. Not ok is that it says nothing, or
// nothing that can be understood.
func RetainRevisions(anns map[string]string) (keep int64, all, ok bool) {
	v, ok := anns[RetainRevisionsAnnotationKey]
	if !ok || v == "all" {
		return 0, ok, ok
	}
	n, err := strconv.ParseUint(v, 10, 31)
	return int64(n), false, err == nil
}

func validateRetain(anns map[string]string) *apis.FieldError {
	v, given := anns[RetainRevisionsAnnotationKey]
	if _, _, ok := RetainRevisions(anns); given && !ok {
		return apis.ErrInvalidValue(v, RetainRevisionsAnnotationKey, `must be a number or "all"`)
	}
	return nil
}

// onTemplates are the annotations that mean something on revision templates and
// Revisions, besides those of autoscaling and networking.
var onTemplates = [...]string{
	ProgressDeadlineAnnotationKey, DrainTimeoutAnnotationKey, TimeoutResetAnnotationKey, FollowConfigAnnotationKey,
	FollowTagsAnnotationKey, ConfigHashAnnotationKey, FollowedDigestsAnnotationKey, RevisionPreservedAnnotationKey,
	RevisionLastPinnedAnnotationKey, RoutingStateModifiedAnnotationKey, RoutesAnnotationKey, CreatorAnnotation, UpdaterAnnotation,
}

// onObjects are those that mean something on Services, Configurations and
// Routes.
var onObjects = [...]string{RetainRevisionsAnnotationKey, RoutesAnnotationKey, CreatorAnnotation, UpdaterAnnotation}

// ObjectWarnings tells about annotations of a Service, Configuration or Route
// that nobody reads there: misspelt ones, and those of templates.
func ObjectWarnings(anns map[string]string) *apis.FieldError {
	known := slices.Concat(onObjects[:], RolloutDurationAnnotation(), networkingAnnotations())
	return unread(anns, known, func(key string) string {
		if slices.Contains(onTemplates[:], key) {
			return `this annotation has no effect here: put it under "spec.template.metadata.annotations"`
		}
		return unknown
	})
}

// TemplateWarnings tells about annotations of a template that nobody reads
// there: misspelt ones, those of the objects around it, and those that size
// upstream's sidecar.
func TemplateWarnings(anns map[string]string) *apis.FieldError {
	known := slices.Concat(onTemplates[:], autoscaling.Keys(), networkingAnnotations())
	return unread(anns, known, func(key string) string {
		switch {
		case slices.Contains(onObjects[:], key) || slices.Contains(RolloutDurationAnnotation(), key):
			return `this annotation has no effect here: put it under "metadata.annotations"`
		case strings.HasPrefix(key, QueueSidecarPrefix) || strings.HasPrefix(key, featuresPrefix):
			return "this annotation has no effect: there is no sidecar"
		}
		return unknown
	})
}

const (
	unknown = "unknown annotation, it has no effect"
	// featuresPrefix begins the annotations that set up upstream's sidecar.
	featuresPrefix = "features.knative.dev/"
)

// unread warns of the annotations under our prefixes that are not known.
func unread(anns map[string]string, known []string, why func(key string) string) *apis.FieldError {
	var errs *apis.FieldError
	for key := range anns {
		if ours(key) && !slices.Contains(known, key) {
			errs = errs.Also(apis.ErrGeneric(why(key), key))
		}
	}
	return errs.At(apis.WarningLevel)
}

// ours says whether an annotation is for Weir to read.
func ours(key string) bool {
	return slices.ContainsFunc([]string{
		GroupName + "/", QueueSidecarPrefix, featuresPrefix, autoscaling.GroupName + "/", networking.PublicGroupName + "/", "weir.dev/",
	}, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
}

// networkingAnnotations are those that Routes have an effect by, in all
// spellings.
func networkingAnnotations() []string {
	return slices.Concat([]kmap.KeyPriority{
		networking.IngressClassAnnotation(), networking.CertificateClassAnnotation(),
		networking.DisableAutoTLSAnnotation(), networking.HTTPProtocolAnnotation(),
	}...)
}
