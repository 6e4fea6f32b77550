// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package ranges chooses the address ranges of pods and Services so that they
// collide with nothing that the machine uses. It is pure.
package ranges

import (
	"encoding/binary"
	"iter"
	"net/netip"
)

// Plan is a pair of ranges, the two halves of one block.
type Plan struct {
	Pods     netip.Prefix `json:"pods"`
	Services netip.Prefix `json:"services"`
}

// defaultLike is the length up to which a route means "everything": VPNs set
// 0.0.0.0/1 and 128.0.0.0/1.
const defaultLike = 7

// space is private address space (RFC 1918) cut into blocks of one length. Small
// blocks are for machines whose large ones are all taken.
type space struct {
	base netip.Prefix
	bits int
}

func spaces() []space {
	return []space{
		{netip.MustParsePrefix("10.0.0.0/8"), 16},
		{netip.MustParsePrefix("172.16.0.0/12"), 16},
		{netip.MustParsePrefix("172.16.0.0/12"), 20},
		{netip.MustParsePrefix("192.168.0.0/16"), 20},
		{netip.MustParsePrefix("10.0.0.0/8"), 20},
	}
}

// Candidates lists plans in order of preference. The seed decides where in a
// space it begins, so that two data directories seldom want the same block.
func Candidates(seed uint32) iter.Seq[Plan] {
	return func(yield func(Plan) bool) {
		for _, s := range spaces() {
			n := uint32(1) << (s.bits - s.base.Bits())
			for i := range n {
				if !yield(s.plan((seed + i) % n)) {
					return
				}
			}
		}
	}
}

func (s space) plan(i uint32) Plan {
	base := binary.BigEndian.Uint32(s.base.Addr().AsSlice())
	start := base + i<<(32-s.bits)
	half := uint32(1) << (32 - s.bits - 1)
	return Plan{
		Pods:     netip.PrefixFrom(addr(start), s.bits+1),
		Services: netip.PrefixFrom(addr(start+half), s.bits+1),
	}
}

func addr(v uint32) netip.Addr {
	return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, v)))
}

// Conflict returns the first prefix in use that overlaps the plan.
func (p Plan) Conflict(taken []netip.Prefix) (netip.Prefix, bool) {
	for _, t := range taken {
		if t.Bits() > defaultLike && (t.Overlaps(p.Pods) || t.Overlaps(p.Services)) {
			return t, true
		}
	}
	return netip.Prefix{}, false
}

// Nth is the n-th address of a range; 0 is the range's own.
func Nth(p netip.Prefix, n uint32) netip.Addr {
	return addr(binary.BigEndian.Uint32(p.Masked().Addr().AsSlice()) + n)
}

// Size is the number of addresses in a range.
func Size(p netip.Prefix) uint32 { return 1 << (32 - p.Bits()) }

// Index is the reverse of [Nth].
func Index(p netip.Prefix, a netip.Addr) uint32 {
	return binary.BigEndian.Uint32(a.AsSlice()) - binary.BigEndian.Uint32(p.Masked().Addr().AsSlice())
}
