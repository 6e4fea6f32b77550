// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"sync"
	"sync/atomic"

	"weir.dev/internal/gateway/route"
	"weir.dev/internal/gateway/stats"
)

// Backend is where the requests of one revision or Service go. Safe for use by many goroutines.
type Backend struct {
	ref route.Ref
	set *Set
	// spec is nil while the feed does not know the backend.
	spec atomic.Pointer[Spec]

	mu        sync.Mutex
	meter     stats.Meter
	instances map[string]*Instance // by UID of the pod
	pool      []*Instance          // those that are usable
	queue     queue
	inFlight  int
	poked     int64 // when the last wake-up was sent, for those that fail at once
	quiet     bool  // the last period had no request in it
	refs      int   // branches of the routing table that lead here; guarded by the lock of the set
}

// Ref is the name of the backend.
func (b *Backend) Ref() route.Ref { return b.ref }

// Spec is what the feed said last, nil if the backend is unknown. It must not be changed.
func (b *Backend) Spec() *Spec { return b.spec.Load() }

func (b *Backend) limit() int {
	if s := b.spec.Load(); s != nil {
		return s.Concurrency
	}
	return 0
}

func (b *Backend) random(n int) int { return b.set.config.Random(n) }

// dispatch gives slots to waiting requests in the order of their arrival, as far as they reach.
func (b *Backend) dispatch() {
	for b.queue.head != nil {
		i := b.choose()
		if i == nil {
			return
		}
		b.grant(b.queue.head, i)
	}
}

func (b *Backend) grant(w *waiter, i *Instance) {
	b.queue.remove(w)
	b.occupy(i)
	w.inst = i
	w.ready <- struct{}{}
}

// refuse answers all waiting requests.
func (b *Backend) refuse(err *Error) {
	for b.queue.head != nil {
		w := b.queue.head
		b.queue.remove(w)
		w.err = err
		w.ready <- struct{}{}
	}
}

func (b *Backend) occupy(i *Instance) {
	i.inFlight++
	b.inFlight++
}

// vacate gives back a slot, to the first that waits if it can be had again.
func (b *Backend) vacate(i *Instance) {
	i.inFlight--
	b.inFlight--
	if i.inFlight == 0 && i.terminating() {
		if i.gone {
			b.drop(i)
		}
		b.set.changed()
	}
	if w := b.queue.head; w != nil && i.pooled && (b.limit() == 0 || i.inFlight < b.limit()) {
		b.grant(w, i)
	}
}

func (b *Backend) drop(i *Instance) {
	if b.instances[i.uid] == i { // else another has its place: the pod came back with a new address
		delete(b.instances, i.uid)
	}
	i.peer.Close()
}
