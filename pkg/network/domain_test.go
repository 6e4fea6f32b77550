// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"strings"
	"testing"
)

func TestDomainFromResolvConf(t *testing.T) {
	tests := map[string]struct{ reason, in, want string }{
		"pod":       {"a pod's search list", "nameserver 10.0.0.10\nsearch ns.svc.example.org svc.example.org example.org\n", "example.org"},
		"dot":       {"names may end with the root", "search svc.example.org.\n", "example.org"},
		"machine":   {"a machine has no such domain", "search corp.example\noptions ndots:5\n", "cluster.local"},
		"empty":     {"nothing is known", "", "cluster.local"},
		"blank":     {"lines may be blank", "\n  \nsearch svc.a.b\n", "a.b"},
		"commented": {"a comment is none", "# search svc.a.b\n", "cluster.local"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := domainFromResolvConf(strings.NewReader(tc.in)); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestGetServiceHostname(t *testing.T) {
	if got, want := GetServiceHostname("a", "b"), "a.b.svc."+GetClusterDomainName(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
