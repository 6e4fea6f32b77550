// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"cmp"
	"hash/maphash"
	"maps"
	"slices"
)

// shards is how many parts a table has; a change copies only the parts that it touches.
const shards = 256

// Table is an immutable routing table. The zero value is not usable; see [New].
type Table[T any] struct {
	seed   maphash.Seed
	shards [shards]map[string]entry[T]
}

// entry holds the claims on one host, the one that counts first.
type entry[T any] []claim[T]

// claim is what one Ingress says about one host.
type claim[T any] struct {
	from     Ref
	claimed  int64
	redirect bool
	// external and internal are the branches that each listener serves, the most specific first.
	external, internal []*Path[T]
}

// Change replaces Old by New; either may be nil.
type Change[T any] struct{ Old, New *Ingress[T] }

// New returns a table without hosts.
func New[T any]() *Table[T] { return &Table[T]{seed: maphash.MakeSeed()} }

// Apply returns a table with the changes made. The cost follows the number of hosts in the changes, and 1/256 of all
// hosts for each. The receiver stays as it is.
func (t *Table[T]) Apply(changes ...Change[T]) *Table[T] {
	next := *t
	var copied [shards]bool
	edit := func(host string, f func(entry[T]) entry[T]) {
		key := hostKey(host)
		i := next.shard(key)
		if !copied[i] {
			copied[i] = true
			if next.shards[i] = maps.Clone(next.shards[i]); next.shards[i] == nil {
				next.shards[i] = map[string]entry[T]{}
			}
		}
		if e := f(next.shards[i][key]); len(e) > 0 {
			next.shards[i][key] = e
		} else {
			delete(next.shards[i], key)
		}
	}
	for _, c := range changes {
		for host := range hosts(c.Old) {
			edit(host, func(e entry[T]) entry[T] { return e.without(c.Old.Ref) })
		}
		for host := range hosts(c.New) {
			edit(host, func(e entry[T]) entry[T] { return e.with(newClaim(c.New, host)) })
		}
	}
	return &next
}

// Owner returns the Ingress that serves a host, named as in its rule.
func (t *Table[T]) Owner(host string) (Ref, bool) {
	if e := t.lookup(hostKey(host)); len(e) > 0 {
		return e[0].from, true
	}
	return Ref{}, false
}

func (t *Table[T]) shard(key string) int { return int(maphash.String(t.seed, key) % shards) }

func (t *Table[T]) lookup(key string) entry[T] { return t.shards[t.shard(key)][key] }

func hosts[T any](in *Ingress[T]) map[string]struct{} {
	names := map[string]struct{}{}
	if in != nil {
		for _, r := range in.Rules {
			for _, h := range r.Hosts {
				names[h] = struct{}{}
			}
		}
	}
	return names
}

func (e entry[T]) without(from Ref) entry[T] {
	return slices.DeleteFunc(slices.Clone(e), func(c claim[T]) bool { return c.from == from })
}

func (e entry[T]) with(c claim[T]) entry[T] {
	e = append(slices.Clone(e), c)
	slices.SortStableFunc(e, func(a, b claim[T]) int {
		return cmp.Or(cmp.Compare(a.claimed, b.claimed), cmp.Compare(a.from.Namespace, b.from.Namespace),
			cmp.Compare(a.from.Name, b.from.Name))
	})
	return e
}

// newClaim collects what an Ingress says about a host. The in-cluster listener serves the external branches too, unless
// there are branches of its own.
func newClaim[T any](in *Ingress[T], host string) claim[T] {
	c := claim[T]{from: in.Ref, claimed: in.Claimed, redirect: in.RedirectHTTPS}
	for i := range in.Rules {
		r := &in.Rules[i]
		if !slices.Contains(r.Hosts, host) {
			continue
		}
		for j := range r.Paths {
			if r.ClusterLocal {
				c.internal = append(c.internal, &r.Paths[j])
			} else {
				c.external = append(c.external, &r.Paths[j])
			}
		}
	}
	sortPaths(c.external)
	sortPaths(c.internal)
	if len(c.internal) == 0 {
		c.internal = c.external
	}
	return c
}

// sortPaths puts the longest prefix first and, among equals, the most headers.
func sortPaths[T any](paths []*Path[T]) {
	slices.SortStableFunc(paths, func(a, b *Path[T]) int {
		return cmp.Or(cmp.Compare(len(b.Prefix), len(a.Prefix)), cmp.Compare(len(b.Headers), len(a.Headers)))
	})
}
