// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package apis

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// CurrentField is the path of the value itself, for errors that are later
// moved under a field by ViaField.
const CurrentField = ""

// DiagnosticLevel is how serious a FieldError is.
type DiagnosticLevel int

const (
	// ErrorLevel refuses the object.
	ErrorLevel DiagnosticLevel = iota
	// WarningLevel is told to the user; the object is accepted.
	WarningLevel
)

// FieldError says what is wrong with which fields. A nil *FieldError means
// nothing is; every method works on it. It may hold several errors (Also).
// +k8s:deepcopy-gen=true
type FieldError struct {
	// Message is the complaint without the path.
	Message string
	// Paths are the fields concerned, relative to where Validate was called.
	Paths []string
	// Level is the severity.
	Level DiagnosticLevel
	// Details are an optional longer explanation.
	Details string

	errors []FieldError
}

var _ error = (*FieldError)(nil)

// ViaField moves the error under the given fields: the outermost first.
func (fe *FieldError) ViaField(prefix ...string) *FieldError {
	if fe == nil {
		return nil
	}
	out := *fe
	out.Paths = make([]string, 0, len(fe.Paths))
	for _, p := range fe.Paths {
		out.Paths = append(out.Paths, joinPath(append(slices.Clone(prefix), p)))
	}
	out.errors = nil
	for i := range fe.errors {
		out.errors = append(out.errors, *fe.errors[i].ViaField(prefix...))
	}
	return &out
}

// ViaIndex moves the error under a list index.
func (fe *FieldError) ViaIndex(index int) *FieldError { return fe.ViaField(asIndex(index)) }

// ViaKey moves the error under a map key.
func (fe *FieldError) ViaKey(key string) *FieldError { return fe.ViaField(asKey(key)) }

// ViaFieldIndex is ViaIndex followed by ViaField.
func (fe *FieldError) ViaFieldIndex(field string, index int) *FieldError {
	return fe.ViaIndex(index).ViaField(field)
}

// ViaFieldKey is ViaKey followed by ViaField.
func (fe *FieldError) ViaFieldKey(field, key string) *FieldError {
	return fe.ViaKey(key).ViaField(field)
}

// At returns the error with everything in it at the given level.
func (fe *FieldError) At(l DiagnosticLevel) *FieldError {
	if fe == nil {
		return nil
	}
	out := *fe
	out.Level = l
	out.errors = nil
	for i := range fe.errors {
		out.errors = append(out.errors, *fe.errors[i].At(l))
	}
	return &out
}

// Filter returns what is in the error at the given level, or nil.
func (fe *FieldError) Filter(l DiagnosticLevel) *FieldError {
	var out *FieldError
	for _, e := range fe.leaves() {
		if e.Level == l {
			out = out.Also(&e)
		}
	}
	return out
}

// Also adds further errors; nil ones are skipped.
func (fe *FieldError) Also(errs ...*FieldError) *FieldError {
	all := fe.nonEmpty()
	for _, e := range errs {
		all = append(all, e.nonEmpty()...)
	}
	if len(all) == 0 {
		return nil
	}
	return &FieldError{errors: all}
}

func (fe *FieldError) nonEmpty() []FieldError {
	if fe == nil || fe.isEmpty() {
		return nil
	}
	return []FieldError{*fe}
}

func (fe *FieldError) isEmpty() bool {
	return fe.Message == "" && fe.Details == "" && len(fe.Paths) == 0 && len(fe.errors) == 0
}

// WrappedErrors returns the errors in it, merged and sorted as in Error.
func (fe *FieldError) WrappedErrors() []*FieldError {
	merged := mergeFieldErrors(fe.leaves())
	out := make([]*FieldError, 0, len(merged))
	for i := range merged {
		out = append(out, &merged[i])
	}
	return out
}

// Error formats as "message: path, path", a new line and the details if there
// are any; several errors stand on lines of their own, sorted.
func (fe *FieldError) Error() string {
	merged := mergeFieldErrors(fe.leaves())
	lines := make([]string, 0, len(merged))
	for _, e := range merged {
		s := e.Message + ": " + strings.Join(e.Paths, ", ")
		if e.Details != "" {
			s += "\n" + e.Details
		}
		lines = append(lines, s)
	}
	return strings.Join(lines, "\n")
}

// Is makes errors.Is true for an error of the same text.
func (fe *FieldError) Is(target error) bool {
	var other *FieldError
	return errors.As(target, &other) && fe.Error() == other.Error()
}

// leaves returns the single errors, each without nested ones.
func (fe *FieldError) leaves() []FieldError {
	if fe == nil {
		return nil
	}
	var out []FieldError
	if fe.Message != "" {
		leaf := *fe
		leaf.errors = nil
		out = append(out, leaf)
	}
	for i := range fe.errors {
		out = append(out, fe.errors[i].leaves()...)
	}
	return out
}

// mergeFieldErrors joins errors that differ in their paths only and sorts
// everything, so that the text does not depend on the order of checks.
func mergeFieldErrors(errs []FieldError) []FieldError {
	type key struct {
		message, details string
		level            DiagnosticLevel
	}
	byKey := map[key]*FieldError{}
	for _, e := range errs {
		k := key{e.Message, e.Details, e.Level}
		if byKey[k] == nil {
			byKey[k] = &FieldError{Message: e.Message, Details: e.Details, Level: e.Level}
		}
		byKey[k].Paths = append(byKey[k].Paths, e.Paths...)
	}
	out := make([]FieldError, 0, len(byKey))
	for _, e := range byKey {
		slices.Sort(e.Paths)
		e.Paths = slices.Compact(e.Paths)
		out = append(out, *e)
	}
	slices.SortFunc(out, func(a, b FieldError) int {
		return slices.Compare(
			[]string{a.Message, a.Details, fmt.Sprint(a.Level)},
			[]string{b.Message, b.Details, fmt.Sprint(b.Level)})
	})
	return out
}

func asIndex(i int) string { return fmt.Sprintf("[%d]", i) }

func asKey(k string) string { return "[" + k + "]" }

// joinPath joins path elements with dots, except before an index or a key.
func joinPath(elems []string) string {
	var b strings.Builder
	for _, e := range elems {
		if e == CurrentField {
			continue
		}
		if b.Len() > 0 && !strings.HasPrefix(e, "[") {
			b.WriteByte('.')
		}
		b.WriteString(e)
	}
	return b.String()
}
