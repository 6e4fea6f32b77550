// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package duck_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"weir.dev/pkg/apis/duck"
)

// TestPatches: both kinds of patches turn one value into the other.
func TestPatches(t *testing.T) {
	type value = map[string]any
	tests := map[string]struct {
		reason        string
		before, after any
		wantMerge     string
		wantOps       int
		wantErr       bool
	}{
		"Equal":   {"nothing to do", value{"a": "x"}, value{"a": "x"}, `{}`, 0, false},
		"Added":   {"a new field", value{}, value{"a": "x"}, `{"a":"x"}`, 1, false},
		"Removed": {"a field less", value{"a": "x", "b": "y"}, value{"b": "y"}, `{"a":null}`, 1, false},
		"Nested":  {"deep inside", value{"a": value{"b": 1, "c": 2}}, value{"a": value{"b": 3, "c": 2}}, `{"a":{"b":3}}`, 1, false},
		"NoJSON":  {"not every value has a form", func() {}, value{}, "", 0, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			merge, errMerge := duck.CreateMergePatch(tc.before, tc.after)
			patch, errPatch := duck.CreatePatch(tc.before, tc.after)
			if tc.wantErr {
				if errMerge == nil || errPatch == nil {
					t.Errorf("%s: errors are %v, %v", tc.reason, errMerge, errPatch)
				}
				return
			}
			if errMerge != nil || errPatch != nil {
				t.Fatalf("patches: %v, %v", errMerge, errPatch)
			}
			if string(merge) != tc.wantMerge || len(patch) != tc.wantOps {
				t.Errorf("%s: got %s and %v, want %s and %d operations", tc.reason, merge, patch, tc.wantMerge, tc.wantOps)
			}
			before, _ := json.Marshal(tc.before)
			patched, err := jsonpatch.MergePatch(before, merge)
			if err != nil {
				t.Fatalf("MergePatch: %v", err)
			}
			after, _ := json.Marshal(tc.after)
			if d := cmp.Diff(string(after), string(patched)); d != "" {
				t.Errorf("%s: the merge patch makes (-want +got):\n%s", tc.reason, d)
			}
		})
	}
}
