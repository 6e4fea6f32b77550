// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"reflect"
	"slices"
	"strings"

	"weir.dev/api/config"
	"weir.dev/pkg/apis"
	"weir.dev/pkg/kmp"
)

// only complains about fields of the struct v that are set and not named.
// Fields of inlined structs count as v's own.
func only(v any, allowed ...string) *apis.FieldError {
	if fields := others(reflect.Indirect(reflect.ValueOf(v)), allowed); len(fields) > 0 {
		return apis.ErrDisallowedFields(fields...)
	}
	return nil
}

func others(v reflect.Value, allowed []string) []string {
	var out []string
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if field.Anonymous {
			out = append(out, others(v.Field(i), allowed)...)
			continue
		}
		name := kmp.JSONName(field)
		if !unset(v.Field(i)) && !slices.Contains(allowed, name) {
			out = append(out, name)
		}
	}
	return out
}

// unset treats an empty list or map like none: it asks for nothing.
func unset(v reflect.Value) bool {
	if v.Kind() == reflect.Slice || v.Kind() == reflect.Map {
		return v.Len() == 0
	}
	return v.IsZero()
}

// setFields returns the JSON names of the fields that are set.
func setFields(v any) []string { return others(reflect.Indirect(reflect.ValueOf(v)), nil) }

// gate is a field that a flag permits.
type gate struct {
	field string
	flag  config.Flag
}

// open returns the fields whose flag is not off.
func open(gates []gate) []string {
	var out []string
	for _, g := range gates {
		if g.flag != config.Disabled {
			out = append(out, g.field)
		}
	}
	return out
}

// exactlyOne complains unless one of the fields is set.
func exactlyOne(set []string, all ...string) *apis.FieldError {
	switch len(set) {
	case 0:
		return apis.ErrMissingOneOf(all...)
	case 1:
		return nil
	default:
		return apis.ErrMultipleOneOf(set...)
	}
}

func joined(messages []string) string { return strings.Join(messages, "\n") }
