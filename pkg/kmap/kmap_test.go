// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package kmap

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKeyPriority(t *testing.T) {
	p := KeyPriority{"new", "old"}
	tests := map[string]struct {
		reason     string
		in, out    map[string]string // out after UpdateKey
		key, value string
		ok         bool
	}{
		"canonical": {"it stays", map[string]string{"new": "1"}, map[string]string{"new": "1"}, "new", "1", true},
		"old":       {"it is renamed", map[string]string{"old": "1", "x": "y"}, map[string]string{"new": "1", "x": "y"}, "old", "1", true},
		"both":      {"the first counts, even empty", map[string]string{"new": "", "old": "1"}, map[string]string{"new": "", "old": "1"}, "new", "", true},
		"neither":   {"nothing", map[string]string{"x": "y"}, map[string]string{"x": "y"}, "", "", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			k, v, ok := p.Get(tc.in)
			if k != tc.key || v != tc.value || ok != tc.ok || p.Value(tc.in) != tc.value {
				t.Errorf("%s: got %q %q %v", tc.reason, k, v, ok)
			}
			if diff := cmp.Diff(tc.out, UpdateKeys(tc.in, p)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	if (KeyPriority{}).Key() != "" || p.Key() != "new" {
		t.Error("the first spelling is canonical")
	}
}

func TestMaps(t *testing.T) {
	in := map[string]string{"a": "1", "b": "2", "c": "3"}
	drop := func(k string) bool { return k == "a" }
	for name, tc := range map[string]struct{ got, want map[string]string }{
		"filter drops where true": {Filter(in, drop), map[string]string{"b": "2", "c": "3"}},
		"exclude":                 {ExcludeKeys(in, "b", "x"), map[string]string{"a": "1", "c": "3"}},
		"exclude list":            {ExcludeKeyList(in, []string{"c"}), map[string]string{"a": "1", "b": "2"}},
		"later wins":              {Union(in, map[string]string{"a": "9"}, nil), map[string]string{"a": "9", "b": "2", "c": "3"}},
		"copy of nil":             {Copy(map[string]string(nil)), map[string]string{}},
		"union of nothing":        {Union[string, string, map[string]string](), map[string]string{}},
		"the argument":            {in, map[string]string{"a": "1", "b": "2", "c": "3"}},
	} {
		if diff := cmp.Diff(tc.want, tc.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
