// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package ranges

import (
	"errors"
	"net/netip"
	"testing"
)

func TestCandidates(t *testing.T) {
	seen := map[Plan]bool{}
	for p := range Candidates(4711) {
		if seen[p] {
			t.Fatalf("%v comes twice", p)
		}
		seen[p] = true
		if p.Pods.Overlaps(p.Services) || !p.Pods.Addr().IsPrivate() || !p.Services.Addr().IsPrivate() || p.Pods != p.Pods.Masked() || p.Services != p.Services.Masked() {
			t.Fatalf("bad plan %v", p)
		}
		if Size(p.Services) < 256 {
			t.Fatalf("%v has too few Service addresses", p)
		}
	}
	if len(seen) != 256+16+256+16+4096 {
		t.Errorf("%d plans", len(seen))
	}
	first := func(seed uint32) Plan {
		for p := range Candidates(seed) {
			return p
		}
		return Plan{}
	}
	if first(1) == first(2) {
		t.Error("the seed does not decide where the search begins")
	}
	want := Plan{netip.MustParsePrefix("10.7.0.0/17"), netip.MustParsePrefix("10.7.128.0/17")}
	if got := first(256 + 7); got != want {
		t.Errorf("first plan %v, want %v", got, want)
	}
}

func TestConflict(t *testing.T) {
	p := Plan{netip.MustParsePrefix("10.7.0.0/17"), netip.MustParsePrefix("10.7.128.0/17")}
	tests := map[string]struct {
		reason string
		taken  string
		want   bool
	}{
		"default":    {"everything overlaps the default route", "0.0.0.0/0", false},
		"half":       {"VPNs cut the default route in two", "0.0.0.0/1", false},
		"bigger":     {"a company's network", "10.0.0.0/8", true},
		"equal":      {"another Weir", "10.7.128.0/17", true},
		"smaller":    {"a host, such as the resolver", "10.7.200.9/32", true},
		"other":      {"a neighbour", "10.8.0.0/16", false},
		"other kind": {"IPv6", "fd00::/8", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if _, got := p.Conflict([]netip.Prefix{netip.MustParsePrefix(tc.taken)}); got != tc.want {
				t.Errorf("%s: conflict with %s: %v", tc.reason, tc.taken, got)
			}
		})
	}
}

func TestAllocator(t *testing.T) {
	prefix := netip.MustParsePrefix("10.7.0.0/29")
	used := netip.MustParseAddr("10.7.0.4")
	a := NewAllocator(prefix, 9, used)
	var got []string
	for range 4 {
		ip, err := a.Take()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, ip.String())
	}
	want := []string{"10.7.0.6", "10.7.0.2", "10.7.0.3", "10.7.0.5"} // Not .0, .1, the used .4, .7.
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("addresses %v, want %v", got, want)
		}
	}
	if _, err := a.Take(); !errors.Is(err, ErrExhausted) {
		t.Errorf("from a full range: %v", err)
	}
	a.Free(netip.MustParseAddr("10.7.0.3"))
	a.Free(netip.MustParseAddr("10.7.0.2"))
	if ip, err := a.Take(); err != nil || ip.String() != "10.7.0.2" {
		t.Errorf("after the last .5 came %v, %v; want the next free in the circle, .2", ip, err)
	}
}

func TestFreedAddressComesLast(t *testing.T) {
	a := NewAllocator(netip.MustParsePrefix("10.7.0.0/24"), 0)
	first, _ := a.Take()
	a.Free(first)
	for range 252 {
		if ip, err := a.Take(); err != nil || ip == first {
			t.Fatalf("%v, %v", ip, err)
		}
	}
	if ip, err := a.Take(); err != nil || ip != first {
		t.Errorf("after all others: %v, %v; want %v", ip, err, first)
	}
}
