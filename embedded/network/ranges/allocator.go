// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package ranges

import (
	"errors"
	"net/netip"
	"sync"
)

// ErrExhausted means that every address of the range is in use.
var ErrExhausted = errors.New("no free address is left")

// reserved is how many addresses at the range's start are not handed out: its own
// and the machine's.
const reserved = 2

// Allocator hands out the addresses of a range in a circle: a freed one comes
// again only after all others, when nobody remembers its last owner. It may be
// used concurrently.
type Allocator struct {
	prefix netip.Prefix

	mu   sync.Mutex
	used map[netip.Addr]bool
	next uint32
}

// NewAllocator begins at an address that the seed decides. used are taken already.
func NewAllocator(prefix netip.Prefix, seed uint32, used ...netip.Addr) *Allocator {
	a := &Allocator{prefix: prefix, used: map[netip.Addr]bool{}}
	a.next = seed % a.capacity()
	for _, u := range used {
		a.used[u] = true
	}
	return a
}

// capacity leaves out the last address too: some take it for a broadcast.
func (a *Allocator) capacity() uint32 { return Size(a.prefix) - reserved - 1 }

// Take returns a free address.
func (a *Allocator) Take() (netip.Addr, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for range a.capacity() {
		ip := Nth(a.prefix, reserved+a.next)
		a.next = (a.next + 1) % a.capacity()
		if !a.used[ip] {
			a.used[ip] = true
			return ip, nil
		}
	}
	return netip.Addr{}, ErrExhausted
}

// Free gives an address back. It can be repeated.
func (a *Allocator) Free(ip netip.Addr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.used, ip)
}
