// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package kmp compares API objects: quantities by value, and without the
// panics that go-cmp answers unexported fields with.
package kmp

import (
	"fmt"
	"reflect"
	"sort"
	"strings"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
)

// defaultOptions apply to every comparison.
func defaultOptions(opts []cmp.Option) []cmp.Option {
	return append([]cmp.Option{
		cmp.Comparer(func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 }),
	}, opts...)
}

// SafeDiff is cmp.Diff that returns an error where cmp panics.
func SafeDiff(x, y interface{}, opts ...cmp.Option) (diff string, err error) {
	defer recovered(&err, "SafeDiff")
	return cmp.Diff(x, y, defaultOptions(opts)...), nil
}

// SafeEqual is cmp.Equal that returns an error where cmp panics.
func SafeEqual(x, y interface{}, opts ...cmp.Option) (equal bool, err error) {
	defer recovered(&err, "SafeEqual")
	return cmp.Equal(x, y, defaultOptions(opts)...), nil
}

// ShortDiff returns, for each leaf that differs, its path and the old (-) and
// new (+) value.
func ShortDiff(prev, cur interface{}, opts ...cmp.Option) (diff string, err error) {
	defer recovered(&err, "ShortDiff")
	r := &leafReporter{}
	cmp.Equal(prev, cur, append(defaultOptions(opts), cmp.Reporter(r))...)
	return strings.Join(r.lines, ""), nil
}

// CompareSetFields returns the JSON names of the fields of the struct x that
// differ in y, sorted.
func CompareSetFields(x, y interface{}, opts ...cmp.Option) (fields []string, err error) {
	defer recovered(&err, "CompareSetFields")
	vx, vy := reflect.Indirect(reflect.ValueOf(x)), reflect.Indirect(reflect.ValueOf(y))
	if vx.Kind() != reflect.Struct || !vy.IsValid() || vx.Type() != vy.Type() {
		return nil, fmt.Errorf("CompareSetFields needs two structs of one type, got %T and %T", x, y)
	}
	for i := range vx.NumField() {
		field := vx.Type().Field(i)
		if !field.IsExported() {
			continue
		}
		if !cmp.Equal(vx.Field(i).Interface(), vy.Field(i).Interface(), defaultOptions(opts)...) {
			fields = append(fields, JSONName(field))
		}
	}
	sort.Strings(fields)
	return fields, nil
}

// JSONName returns the name of a struct field in JSON.
func JSONName(f reflect.StructField) string {
	if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
		return name
	}
	return strings.ToLower(f.Name[:1]) + f.Name[1:]
}

func recovered(err *error, what string) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("recovered in kmp.%s: %v", what, r)
	}
}

// leafReporter collects the leaves that differ.
type leafReporter struct {
	path  cmp.Path
	lines []string
}

// PushStep is called by cmp on the way down.
func (r *leafReporter) PushStep(ps cmp.PathStep) { r.path = append(r.path, ps) }

// PopStep is called by cmp on the way up.
func (r *leafReporter) PopStep() { r.path = r.path[:len(r.path)-1] }

// Report is called by cmp at each leaf.
func (r *leafReporter) Report(rs cmp.Result) {
	if rs.Equal() {
		return
	}
	vx, vy := r.path.Last().Values()
	r.lines = append(r.lines, fmt.Sprintf("%#v:\n", r.path))
	if vx.IsValid() {
		r.lines = append(r.lines, fmt.Sprintf("\t-: %q\n", fmt.Sprintf("%+v", vx)))
	}
	if vy.IsValid() {
		r.lines = append(r.lines, fmt.Sprintf("\t+: %q\n", fmt.Sprintf("%+v", vy)))
	}
}
