// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package nat keeps one nftables table, which translates Service addresses, keeps
// pods' packets on the machine unless they are masqueraded, and keeps others out.
//
// The rules never change. What changes is a map from (ClusterIP, protocol, port,
// slot) to an endpoint; a rule draws a slot by chance. So a change of endpoints is
// a few map elements in one transaction, whatever the number of Services.
package nat

import (
	"encoding/binary"
	"net/netip"
	"slices"
)

// slots is how many map elements a Service port has if it has endpoints. Dealing
// endpoints to slots is fair to within one slot; 60 divides by most small numbers.
const slots = 60

// Protocols of ports, as IP headers have them.
const (
	TCP  = 6
	UDP  = 17
	SCTP = 132
)

// Mapping is one port of a Service and what is behind it.
type Mapping struct {
	IP       netip.Addr
	Protocol uint8
	Port     uint16
	// Endpoints are IPv4. A mapping without any is as good as none: its port is
	// rejected.
	Endpoints []netip.AddrPort
	// Sticky sends a client to the same endpoint each time.
	Sticky bool
}

// key and value are what the kernel compares and loads: each field fills up
// registers of 4 bytes.
type (
	key   [16]byte
	value [8]byte
	pair  [8]byte
)

// elements is the whole changing content of the table.
type elements struct {
	random, sticky map[key]value
	// hairpin has the endpoints: a pod that reaches itself through a Service must
	// not see its own address as the client's.
	hairpin map[pair]bool
}

func makeElements(mappings []Mapping) elements {
	e := elements{random: map[key]value{}, sticky: map[key]value{}, hairpin: map[pair]bool{}}
	for _, m := range mappings {
		if len(m.Endpoints) == 0 || !m.IP.Is4() {
			continue
		}
		into := e.random
		if m.Sticky {
			into = e.sticky
		}
		// Sorted, so that the same endpoints fill the same slots.
		ends := slices.SortedFunc(slices.Values(m.Endpoints), netip.AddrPort.Compare)
		for slot := range uint32(slots) {
			into[makeKey(m, slot)] = makeValue(ends[int(slot)%len(ends)])
		}
		for _, end := range ends {
			e.hairpin[makePair(end.Addr())] = true
		}
	}
	return e
}

func makeKey(m Mapping, slot uint32) (k key) {
	copy(k[0:], m.IP.AsSlice())
	k[4] = m.Protocol
	binary.BigEndian.PutUint16(k[8:], m.Port)
	binary.NativeEndian.PutUint32(k[12:], slot) // The kernel's own number.
	return k
}

func makeValue(end netip.AddrPort) (v value) {
	copy(v[0:], end.Addr().AsSlice())
	binary.BigEndian.PutUint16(v[4:], end.Port())
	return v
}

func makePair(ip netip.Addr) (p pair) {
	copy(p[0:], ip.AsSlice())
	copy(p[4:], ip.AsSlice())
	return p
}

// Flow is what a client may have under way to an endpoint.
type Flow struct {
	IP       netip.Addr
	Protocol uint8
	Port     uint16
	Endpoint netip.AddrPort
}

// Gone lists what was translated before and no longer is.
func Gone(before, after []Mapping) []Flow {
	now := map[Flow]bool{}
	for _, f := range flows(after) {
		now[f] = true
	}
	return slices.DeleteFunc(flows(before), func(f Flow) bool { return now[f] })
}

func flows(mappings []Mapping) []Flow {
	var all []Flow
	for _, m := range mappings {
		for _, end := range m.Endpoints {
			all = append(all, Flow{IP: m.IP, Protocol: m.Protocol, Port: m.Port, Endpoint: end})
		}
	}
	return all
}
