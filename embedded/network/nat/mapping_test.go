// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package nat

import (
	"net/netip"
	"slices"
	"testing"
)

func mapping(ends ...string) Mapping {
	m := Mapping{IP: netip.MustParseAddr("10.9.0.7"), Protocol: TCP, Port: 80}
	for _, e := range ends {
		m.Endpoints = append(m.Endpoints, netip.MustParseAddrPort(e))
	}
	return m
}

func TestMakeElementsIsFair(t *testing.T) {
	for _, ends := range [][]string{{"10.8.0.2:1"}, {"10.8.0.2:1", "10.8.0.3:1"}, {"10.8.0.2:1", "10.8.0.3:1", "10.8.0.4:1", "10.8.0.5:1", "10.8.0.6:1", "10.8.0.7:1", "10.8.0.8:1"}} {
		e := makeElements([]Mapping{mapping(ends...)})
		count := map[value]int{}
		for _, v := range e.random {
			count[v]++
		}
		if len(e.random) != slots || len(count) != len(ends) || len(e.hairpin) != len(ends) {
			t.Fatalf("%d endpoints: %d slots, %d values, %d hairpins", len(ends), len(e.random), len(count), len(e.hairpin))
		}
		for _, n := range count {
			if n < slots/len(ends) || n > slots/len(ends)+1 {
				t.Errorf("%d endpoints: one has %d of %d slots", len(ends), n, slots)
			}
		}
	}
}

func TestMakeElementsOrderDoesNotMatter(t *testing.T) {
	one, two := makeElements([]Mapping{mapping("10.8.0.2:1", "10.8.0.3:1")}), makeElements([]Mapping{mapping("10.8.0.3:1", "10.8.0.2:1")})
	for k, v := range one.random {
		if two.random[k] != v {
			t.Fatal("the same endpoints fill other slots in another order")
		}
	}
}

func TestMakeElementsLeavesOut(t *testing.T) {
	six := mapping("10.8.0.2:1")
	six.IP = netip.MustParseAddr("fd00::1")
	sticky := mapping("10.8.0.2:1")
	sticky.Sticky = true
	e := makeElements([]Mapping{mapping(), six, sticky})
	if len(e.random) != 0 || len(e.sticky) != slots {
		t.Errorf("%d random and %d sticky elements", len(e.random), len(e.sticky))
	}
}

func TestGone(t *testing.T) {
	before := []Mapping{mapping("10.8.0.2:1", "10.8.0.3:1")}
	after := mapping("10.8.0.3:1", "10.8.0.4:1")
	got := Gone(before, []Mapping{after})
	if !slices.Equal(got, []Flow{{after.IP, TCP, 80, netip.MustParseAddrPort("10.8.0.2:1")}}) {
		t.Errorf("gone: %v", got)
	}
	if got := Gone(nil, before); len(got) != 0 {
		t.Errorf("gone from nothing: %v", got)
	}
}
