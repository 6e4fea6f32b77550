// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package nat

import (
	"net/netip"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// Registers of 4 bytes (enum nft_registers). A concatenation lies in adjacent ones.
const (
	reg0 = unix.NFT_REG32_00
	reg1 = unix.NFT_REG32_01
	reg2 = unix.NFT_REG32_02
	reg3 = unix.NFT_REG32_03
	reg4 = unix.NFT_REG32_04
	reg5 = unix.NFT_REG32_05
)

// Offsets in the IPv4 header.
const (
	saddr = 12
	daddr = 16
)

// rule is a list of expressions, in the order in which the kernel evaluates them.
type rule []expr.Any

func join(parts ...rule) rule {
	var all rule
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// rules fills the chains. The comments are in nft's words.
func (t *Table) rules(c *nftables.Conn) {
	add := func(chain *nftables.Chain, parts ...rule) {
		c.AddRule(&nftables.Rule{Table: t.table, Chain: chain, Exprs: join(parts...)})
	}
	pods, services := t.cfg.Pods, t.cfg.Services
	fromPod, notFromPod := link(expr.MetaKeyIIFNAME, expr.CmpOpEq, t.cfg.LinkPrefix), link(expr.MetaKeyIIFNAME, expr.CmpOpNeq, t.cfg.LinkPrefix)

	translate := c.AddChain(&nftables.Chain{Table: t.table, Name: "translate"})
	add(translate, lookupSticky(t.sticky))
	add(translate, lookupRandom(t.random))

	pre := t.base(c, "prerouting", nftables.ChainTypeNAT, nftables.ChainHookPrerouting, nftables.ChainPriorityNATDest)
	add(pre, fromPod, address(daddr, expr.CmpOpEq, services), jump(translate.Name))
	out := t.base(c, "output", nftables.ChainTypeNAT, nftables.ChainHookOutput, nftables.ChainPriorityNATDest)
	add(out, address(daddr, expr.CmpOpEq, services), jump(translate.Name))

	post := t.base(c, "postrouting", nftables.ChainTypeNAT, nftables.ChainHookPostrouting, nftables.ChainPriorityNATSource)
	add(post, hairpin(t.hairpin), snat(t.cfg.BridgeIP))
	add(post, address(saddr, expr.CmpOpEq, pods), address(daddr, expr.CmpOpNeq, pods), link(expr.MetaKeyOIFNAME, expr.CmpOpNeq, "lo\x00"), masquerade())

	// Others on the network reach neither pods nor what listens for pods.
	in := t.base(c, "input", nftables.ChainTypeFilter, nftables.ChainHookInput, nftables.ChainPriorityFilter)
	add(in, address(daddr, expr.CmpOpEq, pods), notFromPod, link(expr.MetaKeyIIFNAME, expr.CmpOpNeq, "lo\x00"), state(expr.CmpOpEq, expr.CtStateBitESTABLISHED|expr.CtStateBitRELATED), drop())

	fwd := t.base(c, "forward", nftables.ChainTypeFilter, nftables.ChainHookForward, nftables.ChainPriorityFilter)
	add(fwd, notFromPod, address(daddr, expr.CmpOpEq, pods), state(expr.CmpOpEq, expr.CtStateBitESTABLISHED|expr.CtStateBitRELATED), drop())
	add(fwd, notFromPod, address(daddr, expr.CmpOpEq, services), drop())
	// What conntrack does not know is not masqueraded either.
	add(fwd, fromPod, state(expr.CmpOpNeq, expr.CtStateBitINVALID), drop())
	add(fwd, address(daddr, expr.CmpOpEq, services), tcp(), reset())
	add(fwd, address(daddr, expr.CmpOpEq, services), reject())

	host := t.base(c, "local", nftables.ChainTypeFilter, nftables.ChainHookOutput, nftables.ChainPriorityFilter)
	add(host, address(daddr, expr.CmpOpEq, services), tcp(), reset())
	add(host, address(daddr, expr.CmpOpEq, services), reject())

	// The last look: a pod's or Service's address on any other interface is a leak.
	last := t.base(c, "leaks", nftables.ChainTypeFilter, nftables.ChainHookPostrouting, nftables.ChainPriorityRef(*nftables.ChainPriorityNATSource+100))
	for _, known := range []string{t.cfg.LinkPrefix, t.cfg.Bridge + "\x00", "lo\x00"} {
		add(last, link(expr.MetaKeyOIFNAME, expr.CmpOpEq, known), verdict(expr.VerdictAccept))
	}
	for _, offset := range []uint32{saddr, daddr} {
		for _, p := range []netip.Prefix{pods, services} {
			add(last, address(offset, expr.CmpOpEq, p), drop())
		}
	}
}

func (t *Table) base(c *nftables.Conn, name string, kind nftables.ChainType, hook *nftables.ChainHook, priority *nftables.ChainPriority) *nftables.Chain {
	return c.AddChain(&nftables.Chain{Table: t.table, Name: name, Type: kind, Hooknum: hook, Priority: priority})
}

// address is "ip saddr/daddr [!=] prefix".
func address(offset uint32, op expr.CmpOp, p netip.Prefix) rule {
	mask := make([]byte, 4)
	for i := range p.Bits() {
		mask[i/8] |= 0x80 >> (i % 8)
	}
	return rule{
		&expr.Payload{DestRegister: reg0, Base: expr.PayloadBaseNetworkHeader, Offset: offset, Len: 4},
		&expr.Bitwise{SourceRegister: reg0, DestRegister: reg0, Len: 4, Mask: mask, Xor: make([]byte, 4)},
		&expr.Cmp{Op: op, Register: reg0, Data: p.Masked().Addr().AsSlice()},
	}
}

// link is "iifname/oifname [!=] name*"; a name with a final zero is a whole one.
func link(key expr.MetaKey, op expr.CmpOp, name string) rule {
	return rule{
		&expr.Meta{Key: key, Register: unix.NFT_REG_1},
		&expr.Cmp{Op: op, Register: unix.NFT_REG_1, Data: []byte(name)},
	}
}

// state is "ct state [!]= bits": with CmpOpEq none of the bits is set.
func state(op expr.CmpOp, bits uint32) rule {
	return rule{
		&expr.Ct{Key: expr.CtKeySTATE, Register: reg0},
		&expr.Bitwise{SourceRegister: reg0, DestRegister: reg0, Len: 4, Mask: nativeEndian(bits), Xor: make([]byte, 4)},
		&expr.Cmp{Op: op, Register: reg0, Data: make([]byte, 4)},
	}
}

// tcp is "meta l4proto tcp".
func tcp() rule {
	return rule{
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: reg0},
		&expr.Cmp{Op: expr.CmpOpEq, Register: reg0, Data: []byte{TCP}},
	}
}

// port loads the first three parts of a key: "ip daddr . meta l4proto . th dport".
func port() rule {
	return rule{
		&expr.Payload{DestRegister: reg0, Base: expr.PayloadBaseNetworkHeader, Offset: daddr, Len: 4},
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: reg1},
		&expr.Payload{DestRegister: reg2, Base: expr.PayloadBaseTransportHeader, Offset: 2, Len: 2},
	}
}

// lookupRandom is "dnat to port . numgen random mod slots map @set".
func lookupRandom(set *nftables.Set) rule {
	return join(port(), rule{&expr.Numgen{Register: reg3, Modulus: slots, Type: unix.NFT_NG_RANDOM}}, dnat(set))
}

// lookupSticky is "dnat to port . jhash ip saddr mod slots map @set".
func lookupSticky(set *nftables.Set) rule {
	return join(port(), rule{
		&expr.Payload{DestRegister: reg4, Base: expr.PayloadBaseNetworkHeader, Offset: saddr, Len: 4},
		&expr.Hash{SourceRegister: reg4, DestRegister: reg3, Length: 4, Modulus: slots, Seed: 1, Type: expr.HashTypeJenkins},
	}, dnat(set))
}

// dnat looks the key in reg0-3 up and sends the connection there.
func dnat(set *nftables.Set) rule {
	return rule{
		&expr.Lookup{SourceRegister: reg0, DestRegister: reg4, IsDestRegSet: true, SetName: set.Name, SetID: set.ID},
		&expr.NAT{Type: expr.NATTypeDestNAT, Family: unix.NFPROTO_IPV4, RegAddrMin: reg4, RegProtoMin: reg5},
	}
}

// hairpin is "ip saddr . ip daddr @set".
func hairpin(set *nftables.Set) rule {
	return rule{
		&expr.Payload{DestRegister: reg0, Base: expr.PayloadBaseNetworkHeader, Offset: saddr, Len: 4},
		&expr.Payload{DestRegister: reg1, Base: expr.PayloadBaseNetworkHeader, Offset: daddr, Len: 4},
		&expr.Lookup{SourceRegister: reg0, SetName: set.Name, SetID: set.ID},
	}
}

func snat(ip netip.Addr) rule {
	return rule{
		&expr.Immediate{Register: reg0, Data: ip.AsSlice()},
		&expr.NAT{Type: expr.NATTypeSourceNAT, Family: unix.NFPROTO_IPV4, RegAddrMin: reg0},
	}
}

func masquerade() rule { return rule{&expr.Counter{}, &expr.Masq{}} }

func verdict(kind expr.VerdictKind) rule { return rule{&expr.Verdict{Kind: kind}} }

func jump(chain string) rule {
	return rule{&expr.Verdict{Kind: expr.VerdictJump, Chain: chain}}
}

func drop() rule { return join(rule{&expr.Counter{}}, verdict(expr.VerdictDrop)) }

// reset is "counter reject with tcp reset".
func reset() rule {
	return rule{&expr.Counter{}, &expr.Reject{Type: unix.NFT_REJECT_TCP_RST}}
}

// reject is "counter reject with icmp port-unreachable".
func reject() rule {
	return rule{&expr.Counter{}, &expr.Reject{Type: unix.NFT_REJECT_ICMP_UNREACH, Code: 3}}
}
