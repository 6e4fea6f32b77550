// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"weir.dev/internal/gateway/probe"
	"weir.dev/internal/gateway/route"
)

// Config is what backends need from outside.
type Config struct {
	// NewPeer makes the connection state of an instance.
	NewPeer func(address string, h2c bool) Peer
	// Probe asks an instance once whether it can serve.
	Probe func(ctx context.Context, address string, s probe.Spec) error
	// Wake is called when a request waits and there is no instance. It must neither block nor call the backend.
	Wake func(*Backend)
	// QueueLength is how many requests may wait for one backend; 0 is 10,000.
	QueueLength int
	// Budget bounds what waiting requests hold in memory; nil is 256 MiB.
	Budget *Budget
	// Now is a monotonic clock in nanoseconds and Random draws from [0,n); nil are the real ones.
	Now    func() int64
	Random func(n int) int
}

const (
	defaultQueueLength = 10_000
	defaultBudget      = 256 << 20
)

// Set holds the backends of a gateway by name. Safe for use by many goroutines.
type Set struct {
	config Config

	ctx    context.Context // of the probes; ends with Close
	cancel context.CancelFunc
	tasks  struct {
		sync.Mutex // against a start after the end
		sync.WaitGroup
	}

	mu       sync.Mutex // taken before that of a backend
	backends map[route.Ref]*Backend

	watch   drains
	waiters sync.Pool
}

// NewSet returns an empty set.
func NewSet(c Config) *Set {
	if c.QueueLength == 0 {
		c.QueueLength = defaultQueueLength
	}
	if c.Budget == nil {
		c.Budget = NewBudget(defaultBudget)
	}
	if c.Now == nil {
		start := time.Now()
		c.Now = func() int64 { return int64(time.Since(start)) }
	}
	if c.Random == nil {
		c.Random = rand.IntN
	}
	if c.Wake == nil {
		c.Wake = func(*Backend) {}
	}
	s := &Set{config: c, backends: map[route.Ref]*Backend{}}
	s.waiters.New = func() any { return &waiter{ready: make(chan struct{}, 1)} }
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// Close ends all probes and closes the connections that are not in use.
func (s *Set) Close() {
	s.tasks.Lock()
	s.cancel()
	s.tasks.Unlock()
	s.tasks.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.backends {
		b.closePeers()
	}
}

// Hold returns the backend of that name for a branch of the routing table; it may be one that the feed does not know (yet).
// Each call must be matched by one of [Set.Unhold] when the branch is gone.
func (s *Set) Hold(ref route.Ref) *Backend {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.get(ref)
	b.refs++
	return b
}

// Unhold gives up what [Set.Hold] returned.
func (s *Set) Unhold(b *Backend) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b.refs--
	s.sweep(b)
}

// Update inserts or changes a backend.
func (s *Set) Update(ref route.Ref, spec *Spec) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.get(ref).update(spec)
}

// Replace sets all instances of a backend.
func (s *Set) Replace(ref route.Ref, list []Endpoint) {
	s.mu.Lock()
	b := s.backends[ref]
	s.mu.Unlock()
	if b != nil {
		b.replace(list)
	}
}

// Remove forgets a backend. Requests in hand finish, those that wait are refused.
func (s *Set) Remove(ref route.Ref) {
	s.mu.Lock()
	b := s.backends[ref]
	s.mu.Unlock()
	if b != nil {
		b.forget()
		s.mu.Lock()
		s.sweep(b)
		s.mu.Unlock()
	}
}

// Each calls f for all backends that there are at the time, and drops those that are no longer of use.
func (s *Set) Each(f func(*Backend)) {
	s.mu.Lock()
	all := make([]*Backend, 0, len(s.backends))
	for _, b := range s.backends {
		if !s.sweep(b) {
			all = append(all, b)
		}
	}
	s.mu.Unlock()
	for _, b := range all {
		f(b)
	}
}

func (s *Set) get(ref route.Ref) *Backend {
	b := s.backends[ref]
	if b == nil {
		b = &Backend{ref: ref, set: s, poked: -wakeEvery}
		s.backends[ref] = b
	}
	return b
}

// sweep drops a backend that neither the feed nor the table nor a request needs.
func (s *Set) sweep(b *Backend) (dropped bool) {
	if b.refs > 0 || b.spec.Load() != nil || s.backends[b.ref] != b {
		return false
	}
	b.mu.Lock()
	used := b.meter.Count() > 0 || len(b.instances) > 0
	b.mu.Unlock()
	if !used {
		delete(s.backends, b.ref)
	}
	return !used
}

// spawn runs f until it ends by itself or the set is closed; false if the set is closed already.
func (s *Set) spawn(f func(context.Context)) bool {
	s.tasks.Lock()
	defer s.tasks.Unlock()
	if s.ctx.Err() != nil {
		return false
	}
	s.tasks.Go(func() { f(s.ctx) })
	return true
}

func (b *Backend) closePeers() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, i := range b.instances {
		i.peer.Close()
	}
}
