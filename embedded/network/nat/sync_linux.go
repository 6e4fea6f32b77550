// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package nat

import (
	"encoding/binary"
	"fmt"

	"github.com/google/nftables"
)

// chunk is how many elements go into one message: a netlink attribute has at most
// 64 KiB. batch is how many go into one transaction: so many fit into the socket's
// buffer.
const (
	chunk = 256
	batch = 1024
)

// Sync makes the table translate exactly these mappings. Ports that did not change
// are not touched. An unchanged call makes no system call.
func (t *Table) Sync(mappings []Mapping) error {
	if t.now == nil {
		now, err := t.read()
		if err != nil {
			return fmt.Errorf("read nftables table %s: %w", t.cfg.Name, err)
		}
		t.now = now
	}
	next := makeElements(mappings)
	var changes []change
	changes = append(changes, diffMap(t.random, t.now.random, next.random)...)
	changes = append(changes, diffMap(t.sticky, t.now.sticky, next.sticky)...)
	changes = append(changes, diffSet(t.hairpin, t.now.hairpin, next.hairpin)...)
	if err := apply(changes); err != nil {
		t.now = nil // Part of it may be there.
		return fmt.Errorf("change nftables table %s: %w", t.cfg.Name, err)
	}
	t.now = &next
	return nil
}

// change replaces, adds (no old) or removes (no next) an element.
type change struct {
	set       *nftables.Set
	old, next *nftables.SetElement
}

func diffMap(set *nftables.Set, now, next map[key]value) []change {
	var changes []change
	element := func(k key, v value) *nftables.SetElement { return &nftables.SetElement{Key: k[:], Val: v[:]} }
	for k, v := range now {
		if to, ok := next[k]; !ok {
			changes = append(changes, change{set: set, old: element(k, v)})
		} else if to != v {
			changes = append(changes, change{set: set, old: element(k, v), next: element(k, to)})
		}
	}
	for k, v := range next {
		if _, ok := now[k]; !ok {
			changes = append(changes, change{set: set, next: element(k, v)})
		}
	}
	return changes
}

func diffSet(set *nftables.Set, now, next map[pair]bool) []change {
	var changes []change
	for p := range now {
		if !next[p] {
			changes = append(changes, change{set: set, old: &nftables.SetElement{Key: p[:]}})
		}
	}
	for p := range next {
		if !now[p] {
			changes = append(changes, change{set: set, next: &nftables.SetElement{Key: p[:]}})
		}
	}
	return changes
}

// apply makes the changes, many in one transaction, each whole.
func apply(changes []change) error {
	for len(changes) > 0 {
		n := min(batch, len(changes))
		c := &nftables.Conn{}
		for part := changes[:n]; len(part) > 0; {
			m := min(chunk, len(part))
			if err := queue(c, part[:m]); err != nil {
				return err
			}
			part = part[m:]
		}
		if err := c.Flush(); err != nil {
			return err
		}
		changes = changes[n:]
	}
	return nil
}

// queue adds changes to the transaction: per set first what goes, then what comes.
func queue(c *nftables.Conn, changes []change) error {
	gone, come := map[*nftables.Set][]nftables.SetElement{}, map[*nftables.Set][]nftables.SetElement{}
	for _, ch := range changes {
		if ch.old != nil {
			gone[ch.set] = append(gone[ch.set], *ch.old)
		}
		if ch.next != nil {
			come[ch.set] = append(come[ch.set], *ch.next)
		}
	}
	for set, elements := range gone {
		if err := c.SetDeleteElements(set, elements); err != nil {
			return err
		}
	}
	for set, elements := range come {
		if err := c.SetAddElements(set, elements); err != nil {
			return err
		}
	}
	return nil
}

// read asks the kernel what the table has.
func (t *Table) read() (*elements, error) {
	e := makeElements(nil)
	c := &nftables.Conn{}
	for set, into := range map[*nftables.Set]map[key]value{t.random: e.random, t.sticky: e.sticky} {
		got, err := c.GetSetElements(set)
		if err != nil {
			return nil, err
		}
		for _, g := range got {
			var k key
			var v value
			copy(k[:], g.Key)
			copy(v[:], g.Val)
			into[k] = v
		}
	}
	got, err := c.GetSetElements(t.hairpin)
	if err != nil {
		return nil, err
	}
	for _, g := range got {
		var p pair
		copy(p[:], g.Key)
		e.hairpin[p] = true
	}
	return &e, nil
}

func nativeEndian(v uint32) []byte { return binary.NativeEndian.AppendUint32(nil, v) }
