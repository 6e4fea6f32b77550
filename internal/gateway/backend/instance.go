// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package backend

import "slices"

// Peer is the connection state that the forwarder keeps for an instance.
type Peer interface {
	// Close lets connections in use finish and closes the others.
	Close()
	// Open takes a Close back.
	Open()
}

// Instance is one running copy of the program. All fields but the first line are guarded by the lock of its backend.
type Instance struct {
	uid, name, address, owner string // owner is the UID of the revision, which may differ from that of a namesake after it
	peer                      Peer

	state   State
	proved  bool // passed the gateway's own probe while starting
	suspect bool // refused a connection and did not pass a probe since
	drained bool // a controller asked for nothing new
	gone    bool // no longer in the feed; kept until its last request is done
	pooled  bool // is in Backend.pool
	probing bool // a goroutine asks it
	fails   int  // refusals since it was last used with success; starts the back-off higher
	claimed bool // a drain request has taken this termination as its own

	inFlight int
}

// usable says whether new requests may go to it.
func (i *Instance) usable() bool {
	if i.gone || i.drained || i.suspect {
		return false
	}
	return i.state == Ready || i.state == Starting && i.proved
}

// terminating says whether only its requests in hand keep it.
func (i *Instance) terminating() bool { return i.gone || i.state == Terminating }

// pool updates whether the instance is among those that requests go to. The order of the pool is that of joining, so that
// packing onto the first lets the last go idle.
func (b *Backend) updatePool(i *Instance) {
	if i.usable() == i.pooled {
		return
	}
	i.pooled = !i.pooled
	if i.pooled {
		b.pool = append(b.pool, i)
		return
	}
	b.pool = slices.DeleteFunc(b.pool, func(o *Instance) bool { return o == i })
}

// packed is the limit up to which the first free instance is taken; above it, the least loaded (facts 6.3).
const packed = 3

// choose returns an instance with a free slot, nil if there is none.
func (b *Backend) choose() *Instance {
	if len(b.pool) == 0 {
		return nil
	}
	limit := b.limit()
	if limit == 0 {
		return b.lighterOfTwo()
	}
	var best *Instance
	for _, i := range b.pool {
		if i.inFlight >= limit {
			continue
		}
		if limit <= packed {
			return i
		}
		if best == nil || i.inFlight < best.inFlight {
			best = i
		}
	}
	return best
}

func (b *Backend) lighterOfTwo() *Instance {
	n := len(b.pool)
	if n == 1 {
		return b.pool[0]
	}
	x := b.random(n)
	y := b.random(n - 1)
	if y >= x {
		y++
	}
	if b.pool[y].inFlight < b.pool[x].inFlight {
		return b.pool[y]
	}
	return b.pool[x]
}
