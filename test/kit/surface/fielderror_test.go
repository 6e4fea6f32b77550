// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package surface_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"weir.dev/pkg/apis"
)

// TestFieldErrors: what users read.
func TestFieldErrors(t *testing.T) {
	tests := map[string]struct {
		err  *apis.FieldError
		want string
	}{
		"Missing":     {apis.ErrMissingField("b", "a"), "missing field(s): a, b"},
		"Disallowed":  {apis.ErrDisallowedFields("a"), "must not set the field(s): a"},
		"Deprecated":  {apis.ErrDisallowedUpdateDeprecatedFields("a"), "must not update deprecated field(s): a"},
		"Value":       {apis.ErrInvalidValue(5, "a"), "invalid value: 5: a"},
		"ValueWhy":    {apis.ErrInvalidValue("x", "a", "details"), "invalid value: x: a\ndetails"},
		"Element":     {apis.ErrInvalidArrayValue("x", "a", 1), "invalid value: x: a[1]"},
		"Generic":     {apis.ErrGeneric("anything", "a"), "anything: a"},
		"MissingOne":  {apis.ErrMissingOneOf("a", "b"), "expected exactly one, got neither: a, b"},
		"MultipleOne": {apis.ErrMultipleOneOf("a", "b"), "expected exactly one, got both: a, b"},
		"KeyName":     {apis.ErrInvalidKeyName("k", "a"), `invalid key name "k": a`},
		"KeyNameWhy":  {apis.ErrInvalidKeyName("k", "a", "details"), "invalid key name \"k\": a\ndetails"},
		"Bounds":      {apis.ErrOutOfBoundsValue(11, 0, 10, "a"), "expected 0 <= 11 <= 10: a"},

		"ViaField":      {apis.ErrMissingField("a").ViaField("spec", "template"), "missing field(s): spec.template.a"},
		"ViaIndex":      {apis.ErrMissingField("a").ViaIndex(1).ViaField("list"), "missing field(s): list[1].a"},
		"ViaKey":        {apis.ErrMissingField("a").ViaKey("k").ViaField("map"), "missing field(s): map[k].a"},
		"ViaFieldIndex": {apis.ErrMissingField("a").ViaFieldIndex("list", 2), "missing field(s): list[2].a"},
		"ViaFieldKey":   {apis.ErrMissingField("a").ViaFieldKey("map", "k"), "missing field(s): map[k].a"},
		"CurrentField":  {apis.ErrInvalidValue(1, apis.CurrentField).ViaFieldIndex("list", 0), "invalid value: 1: list[0]"},

		"Merged": {apis.ErrMissingField("b").Also(apis.ErrMissingField("a")), "missing field(s): a, b"},
		"Sorted": {apis.ErrMissingField("a").Also(apis.ErrInvalidValue(1, "b"), nil), "invalid value: 1: b\nmissing field(s): a"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.err.Error(); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestFieldErrorParts(t *testing.T) {
	err := &apis.FieldError{Message: "message", Paths: []string{"a"}, Level: apis.WarningLevel, Details: "details"}
	both := apis.ErrMissingField("b").Also(err)
	if got := both.Filter(apis.WarningLevel); got.Error() != "message: a\ndetails" {
		t.Errorf("the warnings are %q", got)
	}
	if got := both.Filter(apis.ErrorLevel); got.Error() != "missing field(s): b" {
		t.Errorf("the errors are %q", got)
	}
	if got := both.At(apis.WarningLevel).Filter(apis.ErrorLevel); got != nil {
		t.Errorf("all is a warning but %q", got)
	}
	if got := len(both.WrappedErrors()); got != 2 {
		t.Errorf("%d errors", got)
	}
	var none *apis.FieldError
	if none.ViaField("a").ViaIndex(0).ViaKey("k").ViaFieldIndex("b", 1).ViaFieldKey("c", "k").Also(nil).
		At(apis.WarningLevel).Filter(apis.ErrorLevel) != nil || len(none.WrappedErrors()) != 0 || none.Error() != "" {
		t.Error("nothing stays nothing")
	}
}

func TestMetadata(t *testing.T) {
	for name, tc := range map[string]struct {
		meta metav1.ObjectMeta
		ok   bool
	}{
		"Name":     {metav1.ObjectMeta{Name: "valid-name"}, true},
		"Generate": {metav1.ObjectMeta{GenerateName: "valid-"}, true},
		"Neither":  {metav1.ObjectMeta{}, false},
		"Dots":     {metav1.ObjectMeta{Name: "a.b"}, false},
	} {
		if err := apis.ValidateObjectMetadata(&tc.meta); (err == nil) != tc.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCreatorAndModifier: who made an object never changes, and who changed it
// last only with the spec.
func TestCreatorAndModifier(t *testing.T) {
	const group = "example.com"
	annotations := func(creator, modifier string) map[string]string {
		return map[string]string{group + "/creator": creator, group + "/lastModifier": modifier}
	}
	old := annotations("a", "a")
	for name, tc := range map[string]struct {
		size        int
		annotations map[string]string
		ok          bool
	}{
		"Same":            {1, old, true},
		"Changed":         {2, annotations("a", "b"), true},
		"OtherCreator":    {2, annotations("b", "a"), false},
		"ModifierOnly":    {1, annotations("a", "b"), false},
		"ChangedByCaller": {2, old, true},
	} {
		err := apis.ValidateCreatorAndModifier(gadgetSpec{Size: 1}, gadgetSpec{Size: tc.size}, old, tc.annotations, group)
		if (err == nil) != tc.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFieldChecks(t *testing.T) {
	spec := gadgetSpec{Size: 1, Colour: "red", DeprecatedOld: "set"}
	if err := apis.CheckDisallowedFields(spec, gadgetSpec{Size: 1}); err == nil {
		t.Error("the mask dropped fields")
	} else if d := cmp.Diff([]string{"colour", "old"}, err.Paths); d != "" {
		t.Errorf("paths (-want +got):\n%s", d)
	}
	if err := apis.CheckDisallowedFields(spec, spec); err != nil {
		t.Errorf("the mask dropped nothing: %v", err)
	}
	if err := apis.CheckDeprecated(t.Context(), &spec); err != nil {
		t.Errorf("deprecated fields pass by default: %v", err)
	}
	if err := apis.CheckDeprecated(apis.DisallowDeprecated(t.Context()), &spec); err == nil || err.Error() != "must not set the field(s): old" {
		t.Errorf("CheckDeprecated: %v", err)
	}
}
