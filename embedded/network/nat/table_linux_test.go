// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package nat

import (
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/nftables"

	"weir.dev/embedded/network/netns"
)

// isolated runs a test in a network namespace of its own: other tables there are
// the test's.
func isolated(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("tables need root")
	}
	pin := filepath.Join(t.TempDir(), "netns")
	defer func() {
		if err := netns.Remove(pin); err != nil {
			t.Error(err)
		}
	}()
	if err := netns.New(pin, func(*os.File) error { return nil }); err != nil {
		t.Fatal(err)
	}
	err := netns.Do(pin, func() error {
		f(t)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func testConfig() Config {
	return Config{
		Name: "weir_test", Pods: netip.MustParsePrefix("10.8.0.0/16"), Services: netip.MustParsePrefix("10.9.0.0/16"),
		Bridge: "weir-test", BridgeIP: netip.MustParseAddr("10.8.0.1"), LinkPrefix: "wtest",
	}
}

// content is what the kernel has.
func content(t *testing.T, table *Table) elements {
	t.Helper()
	e, err := table.read()
	if err != nil {
		t.Fatal(err)
	}
	return *e
}

func same(a, b elements) bool {
	return maps.Equal(a.random, b.random) && maps.Equal(a.sticky, b.sticky) && maps.Equal(a.hairpin, b.hairpin)
}

func TestSyncMakesTheTableEqual(t *testing.T) {
	isolated(t, func(t *testing.T) {
		table, err := Open(testConfig())
		if err != nil {
			t.Error(err)
			return
		}
		sticky := mapping("10.8.0.9:1")
		sticky.Port, sticky.Sticky = 81, true
		turned := sticky
		turned.Sticky = false
		for i, step := range [][]Mapping{
			{mapping("10.8.0.2:1")},
			{mapping("10.8.0.2:1", "10.8.0.3:2"), sticky},
			{mapping("10.8.0.3:2"), turned},
			{mapping()},
			many(300),
			nil,
		} {
			if err := table.Sync(step); err != nil {
				t.Errorf("step %d: %v", i, err)
				return
			}
			if !same(content(t, table), makeElements(step)) {
				t.Errorf("step %d: the kernel has something else", i)
			}
		}
	})
}

// many is more than one transaction takes.
func many(n int) []Mapping {
	var all []Mapping
	for i := range n {
		m := mapping("10.8.0.2:1", "10.8.0.3:1", "10.8.0.4:1")
		m.IP = netip.MustParseAddr(fmt.Sprintf("10.9.%d.%d", i/256, i%256))
		all = append(all, m)
	}
	return all
}

func TestOpenKeepsContent(t *testing.T) {
	isolated(t, func(t *testing.T) {
		table, err := Open(testConfig())
		if err == nil {
			err = table.Sync([]Mapping{mapping("10.8.0.2:1")})
		}
		if err != nil {
			t.Error(err)
			return
		}
		again, err := Open(testConfig())
		if err != nil || len(content(t, again).random) != slots {
			t.Errorf("a second Open lost the content: %v", err)
			return
		}
		if err := again.Sync(nil); err != nil || len(content(t, again).random) != 0 {
			t.Errorf("what an earlier process translated is left: %v", err)
		}
		moved := testConfig()
		moved.Pods = netip.MustParsePrefix("10.7.0.0/16")
		if _, err := Open(moved); err != nil {
			t.Errorf("with other ranges: %v", err)
		}
		for range 2 {
			if err := Remove("weir_test"); err != nil {
				t.Error(err)
			}
		}
		if tables, err := (&nftables.Conn{}).ListTables(); err != nil || len(tables) != 0 {
			t.Errorf("left: %v, %v", tables, err)
		}
	})
}

func TestFirewallsThatDrop(t *testing.T) {
	isolated(t, func(t *testing.T) {
		drop := nftables.ChainPolicyDrop
		c := &nftables.Conn{}
		var chains []*nftables.Chain
		for _, table := range []*nftables.Table{{Name: "filter", Family: nftables.TableFamilyIPv4}, {Name: "mine", Family: nftables.TableFamilyINet}} {
			c.AddTable(table)
			chains = append(chains, c.AddChain(&nftables.Chain{
				Name: "FORWARD", Table: table, Type: nftables.ChainTypeFilter, Hooknum: nftables.ChainHookForward,
				Priority: nftables.ChainPriorityFilter, Policy: &drop,
			}))
		}
		if err := c.Flush(); err != nil {
			t.Error(err)
			return
		}
		table, err := Open(testConfig())
		if err == nil {
			err = table.Ensure() // Adds nothing again.
		}
		if err != nil {
			t.Error(err)
			return
		}
		if names, err := table.Blocking(); err != nil || fmt.Sprint(names) != "[inet mine FORWARD]" {
			t.Errorf("Blocking() = %v, %v", names, err)
		}
		count := func(chain *nftables.Chain) int {
			rules, err := c.GetRules(chain.Table, chain)
			if err != nil {
				t.Error(err)
			}
			return len(rules)
		}
		if got := count(chains[0]); got != 2 {
			t.Errorf("%d rules in iptables' chain, want 2", got)
		}
		if got := count(chains[1]); got != 0 {
			t.Errorf("%d rules in somebody's own chain", got)
		}
		if err := Remove("weir_test"); err != nil || count(chains[0]) != 0 {
			t.Errorf("rules are left in iptables' chain: %v", err)
		}
	})
}
