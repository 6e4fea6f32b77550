// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"weir.dev/pkg/reconciler"
)

// leaderGate keeps a reconciler that knows nothing of leaders from the keys
// that this replica does not lead. It remembers those, since the reconciler
// cannot list its objects, and enqueues them on promotion.
type leaderGate struct {
	reconciler.LeaderAwareFuncs

	mu      sync.Mutex
	skipped sets.Set[types.NamespacedName]
}

func newLeaderGate() *leaderGate {
	g := &leaderGate{skipped: sets.New[types.NamespacedName]()}
	g.PromoteFunc = g.release
	return g
}

// lets tells whether the key may be reconciled now, else remembers it. Asking
// and remembering are one step against release, so that no key is lost.
func (g *leaderGate) lets(key types.NamespacedName) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.IsLeaderFor(key) {
		return true
	}
	g.skipped.Insert(key)
	return false
}

func (g *leaderGate) release(b reconciler.Bucket, enq func(reconciler.Bucket, types.NamespacedName)) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for key := range g.skipped {
		if b.Has(key) {
			g.skipped.Delete(key)
			enq(b, key)
		}
	}
	return nil
}
