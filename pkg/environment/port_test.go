// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import "testing"

func TestPort(t *testing.T) {
	tests := map[string]struct {
		reason string
		value  string
		want   int // 0: an error
	}{
		"Set":         {"it is what it says", "443", 443},
		"Unset":       {"the caller's counts", "", 8443},
		"ServiceLink": {"a Service of that name sets it, too, and means something else", "tcp://10.0.0.1:443", 8443},
		"Zero":        {"nobody would find it", "0", 0},
		"TooHigh":     {"there is none", "65536", 0},
		"Word":        {"this is none", "https", 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TEST_PORT", tc.value)
			got, err := Port("TEST_PORT", 8443)
			if got != tc.want || (err != nil) != (tc.want == 0) {
				t.Errorf("%s: Port() = %d, %v, want %d", tc.reason, got, err, tc.want)
			}
		})
	}
}
