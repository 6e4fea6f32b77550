// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package apis

import "fmt"

// ErrMissingField complains that required fields are unset.
func ErrMissingField(fieldPaths ...string) *FieldError {
	return ErrGeneric("missing field(s)", fieldPaths...)
}

// ErrDisallowedFields complains that fields are set that must not be.
func ErrDisallowedFields(fieldPaths ...string) *FieldError {
	return ErrGeneric("must not set the field(s)", fieldPaths...)
}

// ErrDisallowedUpdateDeprecatedFields complains about a change of deprecated
// fields.
func ErrDisallowedUpdateDeprecatedFields(fieldPaths ...string) *FieldError {
	return ErrGeneric("must not update deprecated field(s)", fieldPaths...)
}

// ErrInvalidValue complains about a value.
func ErrInvalidValue(value interface{}, fieldPath string, details ...string) *FieldError {
	return &FieldError{
		Message: fmt.Sprint("invalid value: ", value),
		Paths:   []string{fieldPath},
		Details: firstOf(details),
	}
}

// ErrInvalidArrayValue complains about an element of a list.
func ErrInvalidArrayValue(value interface{}, fieldPath string, index int) *FieldError {
	return ErrInvalidValue(value, CurrentField).ViaFieldIndex(fieldPath, index)
}

// ErrGeneric is any complaint about fields.
func ErrGeneric(diagnostic string, fieldPaths ...string) *FieldError {
	return &FieldError{Message: diagnostic, Paths: fieldPaths}
}

// ErrMissingOneOf complains that none of several alternatives is set.
func ErrMissingOneOf(fieldPaths ...string) *FieldError {
	return ErrGeneric("expected exactly one, got neither", fieldPaths...)
}

// ErrMultipleOneOf complains that more than one of several alternatives is
// set.
func ErrMultipleOneOf(fieldPaths ...string) *FieldError {
	return ErrGeneric("expected exactly one, got both", fieldPaths...)
}

// ErrInvalidKeyName complains about the key of a map, or about a name.
func ErrInvalidKeyName(key, fieldPath string, details ...string) *FieldError {
	return &FieldError{
		Message: fmt.Sprintf("invalid key name %q", key),
		Paths:   []string{fieldPath},
		Details: joinDetails(details),
	}
}

// ErrOutOfBoundsValue complains that value is outside lower..upper.
func ErrOutOfBoundsValue(value, lower, upper interface{}, fieldPath string) *FieldError {
	return ErrGeneric(fmt.Sprintf("expected %v <= %v <= %v", lower, value, upper), fieldPath)
}

func firstOf(ss []string) string {
	if len(ss) == 0 {
		return ""
	}
	return ss[0]
}

func joinDetails(ss []string) string {
	out := ""
	for i, s := range ss {
		if i > 0 {
			out += ", "
		}
		out += s
	}
	return out
}
