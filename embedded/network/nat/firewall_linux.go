// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package nat

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"github.com/google/nftables/userdata"
	"golang.org/x/sys/unix"
)

// A packet must be accepted by every table that looks at it. Docker makes iptables
// drop what is forwarded, so pods would reach nobody; there, and only while that is
// so, two rules of ours come first. Other firewalls are their owners' matter.

// Blocking lists chains of other firewalls that drop what is forwarded unless a
// rule of theirs accepts it, as "family table chain".
func (t *Table) Blocking() ([]string, error) {
	chains, err := blocking()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, c := range chains {
		if !isIptables(c) {
			names = append(names, fmt.Sprintf("%s %s %s", familyName(c.Table.Family), c.Table.Name, c.Name))
		}
	}
	return names, nil
}

func familyName(f nftables.TableFamily) string {
	if f == nftables.TableFamilyINet {
		return "inet"
	}
	return "ip"
}

func blocking() ([]*nftables.Chain, error) {
	var found []*nftables.Chain
	for _, family := range []nftables.TableFamily{nftables.TableFamilyIPv4, nftables.TableFamilyINet} {
		chains, err := (&nftables.Conn{}).ListChainsOfTableFamily(family)
		if err != nil {
			return nil, fmt.Errorf("list firewall chains: %w", err)
		}
		for _, c := range chains {
			if c.Hooknum != nil && *c.Hooknum == *nftables.ChainHookForward && c.Policy != nil && *c.Policy == nftables.ChainPolicyDrop {
				found = append(found, c)
			}
		}
	}
	return found, nil
}

// isIptables reports whether a chain is the one of "iptables -P FORWARD".
func isIptables(c *nftables.Chain) bool {
	return c.Table.Family == nftables.TableFamilyIPv4 && c.Table.Name == "filter" && c.Name == "FORWARD"
}

// admit makes iptables accept pods' packets if it drops others.
func (t *Table) admit() error {
	chains, err := blocking()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(chains, isIptables)
	if i < 0 {
		return nil
	}
	chain := chains[i]
	mine, err := ours(chain, t.cfg.Name)
	if err != nil || len(mine) > 0 {
		return err
	}
	c := &nftables.Conn{}
	for _, key := range []expr.MetaKey{expr.MetaKeyIIFNAME, expr.MetaKeyOIFNAME} {
		c.InsertRule(&nftables.Rule{
			Table: chain.Table, Chain: chain, UserData: comment(t.cfg.Name),
			Exprs: join(link(key, expr.CmpOpEq, t.cfg.LinkPrefix), rule{&expr.Counter{}}, verdict(expr.VerdictAccept)),
		})
	}
	if err := c.Flush(); err != nil {
		return fmt.Errorf("let pods through iptables: %w", err)
	}
	return nil
}

// dismiss removes what admit added.
func dismiss(name string) error {
	chain := &nftables.Chain{Name: "FORWARD", Table: &nftables.Table{Name: "filter", Family: nftables.TableFamilyIPv4}}
	mine, err := ours(chain, name)
	if err != nil || len(mine) == 0 {
		return err
	}
	c := &nftables.Conn{}
	for _, r := range mine {
		if err := c.DelRule(r); err != nil {
			return fmt.Errorf("remove rules from iptables: %w", err)
		}
	}
	if err := c.Flush(); err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("remove rules from iptables: %w", err)
	}
	return nil
}

// ours finds the rules that carry a table's name as their comment.
func ours(chain *nftables.Chain, name string) ([]*nftables.Rule, error) {
	rules, err := (&nftables.Conn{}).GetRules(chain.Table, chain)
	if errors.Is(err, unix.ENOENT) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list rules of iptables: %w", err)
	}
	return slices.DeleteFunc(rules, func(r *nftables.Rule) bool { return !bytes.Equal(r.UserData, comment(name)) }), nil
}

func comment(text string) []byte { return userdata.AppendString(nil, userdata.TypeComment, text) }
