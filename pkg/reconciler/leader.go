// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Bucket is a share of all keys that one replica leads at a time.
type Bucket interface {
	// Name tells buckets apart.
	Name() string
	// Has tells whether a key belongs to the bucket.
	Has(key types.NamespacedName) bool
}

// UniversalBucket has every key.
func UniversalBucket() Bucket { return universal{} }

type universal struct{}

func (universal) Name() string                  { return "" }
func (universal) Has(types.NamespacedName) bool { return true }

// LeaderAware is implemented by reconcilers that act for the keys that they
// lead only.
type LeaderAware interface {
	// Promote is called when this replica begins to lead the bucket. It
	// enqueues the bucket's keys.
	Promote(b Bucket, enq func(Bucket, types.NamespacedName)) error
	// Demote is called when this replica no longer leads the bucket.
	Demote(b Bucket)
}

// LeaderAwareFuncs is a LeaderAware to embed: it keeps the buckets that this
// replica leads and calls the functions that are set.
type LeaderAwareFuncs struct {
	// PromoteFunc is called after the bucket counts as led.
	PromoteFunc func(b Bucket, enq func(Bucket, types.NamespacedName)) error
	// DemoteFunc is called after the bucket no longer counts as led.
	DemoteFunc func(b Bucket)

	mu      sync.RWMutex
	buckets map[string]Bucket
}

var _ LeaderAware = (*LeaderAwareFuncs)(nil)

// IsLeaderFor tells whether this replica leads the key.
func (f *LeaderAwareFuncs) IsLeaderFor(key types.NamespacedName) bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, b := range f.buckets {
		if b.Has(key) {
			return true
		}
	}
	return false
}

// Promote implements LeaderAware.
func (f *LeaderAwareFuncs) Promote(b Bucket, enq func(Bucket, types.NamespacedName)) error {
	f.mu.Lock()
	if f.buckets == nil {
		f.buckets = make(map[string]Bucket, 1)
	}
	f.buckets[b.Name()] = b
	f.mu.Unlock()

	if f.PromoteFunc == nil {
		return nil
	}
	return f.PromoteFunc(b, enq)
}

// Demote implements LeaderAware.
func (f *LeaderAwareFuncs) Demote(b Bucket) {
	f.mu.Lock()
	delete(f.buckets, b.Name())
	f.mu.Unlock()

	if f.DemoteFunc != nil {
		f.DemoteFunc(b)
	}
}
