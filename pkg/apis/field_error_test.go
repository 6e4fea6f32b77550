// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package apis

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFieldErrorText(t *testing.T) {
	tests := map[string]struct {
		reason string
		err    *FieldError
		want   string
	}{
		"path": {
			reason: "fields join with dots, indexes and keys do not",
			err:    ErrOutOfBoundsValue(-1, 0, 100, "percent").ViaFieldIndex("traffic", 0).ViaField("spec"),
			want:   "expected 0 <= -1 <= 100: spec.traffic[0].percent",
		},
		"several elements": {
			reason: "the outermost goes first",
			err:    ErrMissingField("name").ViaField("spec", "template"),
			want:   "missing field(s): spec.template.name",
		},
		"key": {
			reason: "keys stand in brackets",
			err:    ErrInvalidValue("x", CurrentField).ViaFieldKey("annotations", "a/b"),
			want:   "invalid value: x: annotations[a/b]",
		},
		"array value": {
			reason: "the element has the path",
			err:    ErrInvalidArrayValue("x", "args", 2),
			want:   "invalid value: x: args[2]",
		},
		"the value itself": {
			reason: "the current field adds nothing",
			err:    ErrMissingField(CurrentField).ViaFieldIndex("containers", 1),
			want:   "missing field(s): containers[1]",
		},
		"details": {
			reason: "details follow on a line of their own",
			err:    ErrInvalidValue("foo@bar.baz", "serviceAccountName", "no").ViaField("spec"),
			want:   "invalid value: foo@bar.baz: spec.serviceAccountName\nno",
		},
		"merged": {
			reason: "errors that differ in their paths only are one, with the paths sorted",
			err:    ErrMissingField("b").Also(ErrMissingField("a"), ErrMissingField("b")),
			want:   "missing field(s): a, b",
		},
		"sorted": {
			reason: "the text does not depend on the order of checks",
			err:    ErrMissingOneOf("x").Also(ErrDisallowedFields("z")).Also(ErrGeneric("a", "y")).ViaField("f"),
			want:   "a: f.y\nexpected exactly one, got neither: f.x\nmust not set the field(s): f.z",
		},
		"different details": {
			reason: "they say different things",
			err:    ErrInvalidValue(1, "a", "one").Also(ErrInvalidValue(1, "b", "two")),
			want:   "invalid value: 1: a\none\ninvalid value: 1: b\ntwo",
		},
		"nested": {
			reason: "prefixes reach errors inside errors",
			err:    (ErrMissingField("a").Also(ErrMultipleOneOf("b", "c"))).ViaIndex(3).Also(ErrMissingField("d")).ViaField("s"),
			want:   "expected exactly one, got both: s[3].b, s[3].c\nmissing field(s): s.d, s[3].a",
		},
		"key name": {
			reason: "details join",
			err:    ErrInvalidKeyName("k", "f", "one", "two"),
			want:   "invalid key name \"k\": f\none, two",
		},
		"update of deprecated": {
			reason: "part of the interface",
			err:    ErrDisallowedUpdateDeprecatedFields("old"),
			want:   "must not update deprecated field(s): old",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.err.Error()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestFieldErrorNil(t *testing.T) {
	var fe *FieldError
	for name, got := range map[string]*FieldError{
		"ViaField": fe.ViaField("a"), "ViaIndex": fe.ViaIndex(1), "ViaKey": fe.ViaKey("k"),
		"Also": fe.Also(nil, nil), "At": fe.At(WarningLevel), "Filter": fe.Filter(ErrorLevel),
		"empty": fe.Also(&FieldError{}),
	} {
		if got != nil {
			t.Errorf("%s of nothing must be nil, got %v", name, got)
		}
	}
	if fe.Error() != "" || len(fe.WrappedErrors()) != 0 {
		t.Error("nothing has no text")
	}
}

func TestFieldErrorLevels(t *testing.T) {
	e := ErrMissingField("a").Also(ErrMissingField("b").At(WarningLevel)).ViaField("spec")
	if got, want := e.Filter(ErrorLevel).Error(), "missing field(s): spec.a"; got != want {
		t.Errorf("errors: got %q, want %q", got, want)
	}
	if got, want := e.Filter(WarningLevel).Error(), "missing field(s): spec.b"; got != want {
		t.Errorf("warnings: got %q, want %q", got, want)
	}
	if e.At(WarningLevel).Filter(ErrorLevel) != nil {
		t.Error("At must reach every error inside")
	}
	if len(e.WrappedErrors()) != 2 {
		t.Error("levels must not be merged")
	}
}

func TestFieldErrorDoesNotChange(t *testing.T) {
	base := ErrMissingField("a")
	_ = base.ViaField("x")
	_ = base.Also(ErrMissingField("b"))
	_ = base.At(WarningLevel)
	if base.Error() != "missing field(s): a" || base.Level != ErrorLevel {
		t.Errorf("methods must return copies, got %q", base)
	}
}

func TestFieldErrorIs(t *testing.T) {
	wrapped := fmt.Errorf("validation failed: %w", ErrMissingField("a"))
	if !errors.Is(wrapped, ErrMissingField("a")) || errors.Is(wrapped, ErrMissingField("b")) {
		t.Error("errors.Is must compare the text")
	}
}
