// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package hash

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
)

func names(n int) sets.Set[string] {
	set := sets.New[string]()
	for i := range n {
		set.Insert(fmt.Sprintf("bucket-%d", i))
	}
	return set
}

// TestOwners: every key has one owner, shares are about even, and a new bucket
// takes its share from all without moving keys among the others.
func TestOwners(t *testing.T) {
	const keys = 10_000
	before, after := NewBucketSet(names(4)), NewBucketSet(names(5))
	shares, moved := map[string]int{}, 0
	for i := range keys {
		key := fmt.Sprintf("ns/name-%d", i)
		owner, next := before.Owner(key), after.Owner(key)
		shares[owner]++
		if owner != next {
			moved++
			if next != "bucket-4" {
				t.Fatalf("%s moved from %s to %s, which is not new", key, owner, next)
			}
		}
	}
	for name, share := range shares {
		if share < keys/5 || share > keys*3/10 {
			t.Errorf("%s has %d of %d keys", name, share, keys)
		}
	}
	if moved < keys/7 || moved > keys/4 {
		t.Errorf("%d of %d keys moved, want about a fifth", moved, keys)
	}
}

func TestBuckets(t *testing.T) {
	key := types.NamespacedName{Namespace: "ns", Name: "name"}
	owners := 0
	for _, b := range NewBucketSet(names(3)).Buckets() {
		if b.Has(key) {
			owners++
		}
	}
	if owners != 1 {
		t.Errorf("the key is in %d buckets", owners)
	}
	if got := NewBucketSet(nil).Owner("x"); got != "" {
		t.Errorf("owner among no buckets is %q", got)
	}
}

func TestChooseSubset(t *testing.T) {
	all := names(20)
	chosen := ChooseSubset(all, 5, "key")
	if chosen.Len() != 5 || !all.IsSuperset(chosen) {
		t.Fatalf("chose %v", chosen)
	}
	gone := chosen.UnsortedList()[0]
	all.Delete(gone)
	again := ChooseSubset(all, 5, "key")
	if again.Intersection(chosen).Len() != 4 {
		t.Errorf("chose %v, then %v: only %s had to be replaced", chosen, again, gone)
	}
	if got := ChooseSubset(names(2), 5, "key"); got.Len() != 2 {
		t.Errorf("chose %v of two", got)
	}
}
