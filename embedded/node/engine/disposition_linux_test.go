// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"syscall"
	"testing"
)

func TestByDefault(t *testing.T) {
	cases := map[string]struct {
		reason string
		status string
		want   bool
	}{
		"neither": {"busybox httpd: nobody would ever act on SIGTERM", "SigIgn:\t0000000000001000\nSigCgt:\t0000000000000000\n", true},
		"caught":  {"the program wants to end in its own way", "SigIgn:\t0000000000000000\nSigCgt:\t0000000000004000\n", false},
		"ignored": {"the program chose to stay", "SigIgn:\t0000000000004000\nSigCgt:\t0000000000000000\n", false},
		"other":   {"another signal's handler says nothing of this one", "SigIgn:\t0000000000000000\nSigCgt:\t0000000000000002\n", true},
		"gone":    {"a process that cannot be read is signalled as asked", "", false},
		"damaged": {"a guess could cut a program short", "SigIgn:\tx\nSigCgt:\t0000000000000000\n", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := byDefault(tc.status, syscall.SIGTERM); got != tc.want {
				t.Errorf("by default = %v, want %v: %s", got, tc.want, tc.reason)
			}
		})
	}
}
