// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
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

	mu    sync.RWMutex
	terms map[string]term
}

// term is the time in which a replica leads a bucket; ended is closed after it.
type term struct {
	Bucket

	ended chan struct{}
}

var _ LeaderAware = (*LeaderAwareFuncs)(nil)

// IsLeaderFor tells whether this replica leads the key.
func (f *LeaderAwareFuncs) IsLeaderFor(key types.NamespacedName) bool {
	_, leads := f.termOf(key)
	return leads
}

// termOf is the term in which this replica leads the key, if it does.
func (f *LeaderAwareFuncs) termOf(key types.NamespacedName) (term, bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, t := range f.terms {
		if t.Has(key) {
			return t, true
		}
	}
	return term{}, false
}

// WhileLeading returns a context that ends, at the latest, when this replica no
// longer leads the key: what must not be done by two at once must be done in it.
// It is to be cancelled.
func (f *LeaderAwareFuncs) WhileLeading(ctx context.Context, key types.NamespacedName) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	t, leads := f.termOf(key)
	if !leads {
		cancel()
		return ctx, cancel
	}
	go func() {
		select {
		case <-t.ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// Promote implements LeaderAware.
func (f *LeaderAwareFuncs) Promote(b Bucket, enq func(Bucket, types.NamespacedName)) error {
	f.mu.Lock()
	if f.terms == nil {
		f.terms = make(map[string]term, 1)
	}
	if _, leads := f.terms[b.Name()]; !leads {
		f.terms[b.Name()] = term{Bucket: b, ended: make(chan struct{})}
	}
	f.mu.Unlock()

	if f.PromoteFunc == nil {
		return nil
	}
	return f.PromoteFunc(b, enq)
}

// Demote implements LeaderAware.
func (f *LeaderAwareFuncs) Demote(b Bucket) {
	f.mu.Lock()
	if t, ok := f.terms[b.Name()]; ok {
		close(t.ended)
		delete(f.terms, b.Name())
	}
	f.mu.Unlock()

	if f.DemoteFunc != nil {
		f.DemoteFunc(b)
	}
}
