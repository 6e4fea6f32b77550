// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package hash spreads keys over buckets so that few keys move when a bucket
// comes or goes (rendezvous hashing: Thaler and Ravishankar, 1998). It is pure.
package hash

import (
	"cmp"
	"hash/fnv"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
)

// ChooseSubset returns n members of from, chosen by key: the same for the same
// key, and little changed when members come or go. All of them when n is not less.
func ChooseSubset(from sets.Set[string], n int, key string) sets.Set[string] {
	ranked := rank(from.UnsortedList(), key)
	return sets.New(ranked[:min(max(n, 0), len(ranked))]...)
}

// rank orders members by their weight for key, heaviest first.
func rank(members []string, key string) []string {
	weights := make(map[string]uint64, len(members))
	for _, member := range members {
		weights[member] = weight(member, key)
	}
	slices.SortFunc(members, func(a, b string) int {
		return cmp.Or(cmp.Compare(weights[b], weights[a]), cmp.Compare(a, b))
	})
	return members
}

func weight(member, key string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(member))
	_, _ = h.Write([]byte{0})
	_, _ = h.Write([]byte(key))
	return mix(h.Sum64())
}

// mix is the finalizer of MurmurHash3: FNV alone leaves the high bits of
// similar inputs alike.
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// BucketSet is a set of buckets, each of which owns a share of all keys.
type BucketSet struct {
	names []string
}

// NewBucketSet makes buckets of the names.
func NewBucketSet(names sets.Set[string]) *BucketSet {
	return &BucketSet{names: sets.List(names)}
}

// Owner names the bucket that has the key; empty when there is none.
func (s *BucketSet) Owner(key string) string {
	owner, heaviest := "", uint64(0)
	for _, name := range s.names {
		if w := weight(name, key); owner == "" || w > heaviest {
			owner, heaviest = name, w
		}
	}
	return owner
}

// BucketList names the buckets in order.
func (s *BucketSet) BucketList() []string { return slices.Clone(s.names) }

// Buckets returns the buckets in order.
func (s *BucketSet) Buckets() []*Bucket {
	buckets := make([]*Bucket, 0, len(s.names))
	for _, name := range s.names {
		buckets = append(buckets, &Bucket{name: name, set: s})
	}
	return buckets
}

// Bucket is one member of a BucketSet; it is a reconciler.Bucket.
type Bucket struct {
	name string
	set  *BucketSet
}

// Name implements reconciler.Bucket.
func (b *Bucket) Name() string { return b.name }

// Has implements reconciler.Bucket.
func (b *Bucket) Has(key types.NamespacedName) bool { return b.set.Owner(key.String()) == b.name }
