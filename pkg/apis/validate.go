// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package apis

import (
	"context"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"weir.dev/pkg/kmp"
)

const (
	// CreatorAnnotationSuffix follows the group in the annotation that names
	// who created an object.
	CreatorAnnotationSuffix = "/creator"
	// UpdaterAnnotationSuffix follows the group in the annotation that names
	// who changed the spec last.
	UpdaterAnnotationSuffix = "/lastModifier"
)

// ValidateObjectMetadata checks name and generateName: one of them is needed,
// and a name is a DNS-1035 label because a k8s Service carries it.
func ValidateObjectMetadata(meta metav1.Object) *FieldError {
	name, generateName := meta.GetName(), meta.GetGenerateName()
	if name == "" && generateName == "" {
		return ErrGeneric("name or generateName is required", "name")
	}
	var errs *FieldError
	if generateName != "" {
		if msgs := apivalidation.NameIsDNS1035Label(generateName, true); len(msgs) > 0 {
			errs = errs.Also(ErrGeneric(
				"not a DNS 1035 label prefix: "+strings.Join(msgs, ", "), "generateName"))
		}
	}
	if name != "" {
		if msgs := apivalidation.NameIsDNS1035Label(name, false); len(msgs) > 0 {
			errs = errs.Also(ErrGeneric("not a DNS 1035 label: "+strings.Join(msgs, ", "), "name"))
		}
	}
	return errs
}

// ValidateCreatorAndModifier checks the two annotations that the defaulting
// webhook writes: the creator never changes, and the last modifier only with
// the spec.
func ValidateCreatorAndModifier(oldSpec, newSpec interface{}, oldAnnotation, newAnnotation map[string]string, groupName string) *FieldError {
	var errs *FieldError
	creator := groupName + CreatorAnnotationSuffix
	if oldAnnotation[creator] != newAnnotation[creator] {
		errs = errs.Also(ErrGeneric("annotation value is immutable", creator))
	}
	updater := groupName + UpdaterAnnotationSuffix
	if oldAnnotation[updater] != newAnnotation[updater] && equality.Semantic.DeepEqual(oldSpec, newSpec) {
		errs = errs.Also(ErrInvalidValue(newAnnotation[updater], updater))
	}
	return errs
}

// CheckDisallowedFields compares a struct with its masked copy, which holds
// the permitted fields only, and complains about what the mask dropped.
func CheckDisallowedFields(request, maskedRequest interface{}) *FieldError {
	dropped, err := kmp.CompareSetFields(request, maskedRequest)
	if err != nil {
		return ErrGeneric("internal error: "+err.Error(), CurrentField)
	}
	if len(dropped) == 0 {
		return nil
	}
	return ErrDisallowedFields(dropped...)
}

// deprecatedPrefix begins the Go names of fields that are deprecated.
const deprecatedPrefix = "Deprecated"

// CheckDeprecated complains about set fields whose Go name starts with
// Deprecated, at any depth, when the context disallows them.
func CheckDeprecated(ctx context.Context, obj interface{}) *FieldError {
	if IsDeprecatedAllowed(ctx) {
		return nil
	}
	fields := deprecatedFields(reflect.ValueOf(obj), "")
	if len(fields) == 0 {
		return nil
	}
	return ErrDisallowedFields(fields...)
}

func deprecatedFields(v reflect.Value, path string) []string {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return nil
	}
	var out []string
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if !field.IsExported() {
			continue
		}
		name := joinPath([]string{path, kmp.JSONName(field)})
		if strings.HasPrefix(field.Name, deprecatedPrefix) {
			if !v.Field(i).IsZero() {
				out = append(out, name)
			}
			continue
		}
		if field.Anonymous {
			name = path
		}
		out = append(out, deprecatedFields(v.Field(i), name)...)
	}
	return out
}
