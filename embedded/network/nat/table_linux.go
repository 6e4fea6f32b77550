// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package nat

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/google/nftables"
	"golang.org/x/sys/unix"
)

// Config says what the table is called and whom it serves.
type Config struct {
	Name           string
	Pods, Services netip.Prefix
	// Bridge has the machine's pod address BridgeIP.
	Bridge   string
	BridgeIP netip.Addr
	// LinkPrefix starts the names of pods' interfaces, and of no others.
	LinkPrefix string
}

// layout is the version of the rules: a table of another is made anew.
const layout = 2

// marker is the name of an empty chain that tells how a table was made.
func (c Config) marker() string {
	return fmt.Sprintf("layout-%d-%s-%d", layout, c.Pods.Addr(), c.Pods.Bits())
}

// Table is a table in the kernel. Its methods are for one goroutine.
type Table struct {
	cfg     Config
	table   *nftables.Table
	random  *nftables.Set
	sticky  *nftables.Set
	hairpin *nftables.Set
	// now is what the kernel has; nil until it was read.
	now *elements
}

// Open finds the table or makes it. A table that an earlier process left goes on
// to translate.
func Open(cfg Config) (*Table, error) {
	t := &Table{cfg: cfg, table: &nftables.Table{Name: cfg.Name, Family: nftables.TableFamilyIPv4}}
	t.random = t.portMap("services")
	t.sticky = t.portMap("sticky")
	t.hairpin = &nftables.Set{
		Table: t.table, Name: "hairpin", Concatenation: true,
		KeyType: nftables.MustConcatSetType(nftables.TypeIPAddr, nftables.TypeIPAddr),
	}
	if err := t.Ensure(); err != nil {
		return nil, err
	}
	return t, nil
}

// Ensure makes the table if somebody deleted it. The next [Table.Sync] fills it.
func (t *Table) Ensure() error {
	fits, err := t.fits()
	if err != nil {
		return fmt.Errorf("find nftables table %s: %w", t.cfg.Name, err)
	}
	if err := t.admit(); err != nil {
		return err
	}
	if fits {
		return nil
	}
	t.now = nil
	if err := t.install(); err != nil {
		return fmt.Errorf("make nftables table %s: %w", t.cfg.Name, err)
	}
	return nil
}

func (t *Table) portMap(name string) *nftables.Set {
	return &nftables.Set{
		Table: t.table, Name: name, IsMap: true, Concatenation: true,
		KeyType:  nftables.MustConcatSetType(nftables.TypeIPAddr, nftables.TypeInetProto, nftables.TypeInetService, nftables.TypeMark),
		DataType: nftables.MustConcatSetType(nftables.TypeIPAddr, nftables.TypeInetService),
	}
}

// fits reports whether the kernel has the table as this version makes it.
func (t *Table) fits() (bool, error) {
	c := &nftables.Conn{}
	chains, err := c.ListChainsOfTableFamily(nftables.TableFamilyIPv4)
	if err != nil {
		return false, err
	}
	for _, chain := range chains {
		if chain.Table.Name == t.cfg.Name && chain.Name == t.cfg.marker() {
			return true, nil
		}
	}
	return false, nil
}

// install replaces the table in one transaction.
func (t *Table) install() error {
	c := &nftables.Conn{}
	c.AddTable(t.table) // So that there is one to delete.
	c.DelTable(t.table)
	c.AddTable(t.table)
	c.AddChain(&nftables.Chain{Table: t.table, Name: t.cfg.marker()})
	for _, set := range []*nftables.Set{t.random, t.sticky, t.hairpin} {
		if err := c.AddSet(set, nil); err != nil {
			return err
		}
	}
	t.rules(c)
	return c.Flush()
}

// Remove deletes a table and what it added elsewhere. It can be repeated.
func Remove(name string) error {
	if err := dismiss(name); err != nil {
		return err
	}
	c := &nftables.Conn{}
	c.DelTable(&nftables.Table{Name: name, Family: nftables.TableFamilyIPv4})
	if err := c.Flush(); err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("remove nftables table %s: %w", name, err)
	}
	return nil
}
