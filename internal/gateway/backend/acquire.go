// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package backend

import "context"

// Lease is the right to send one request to one instance. It is used by one goroutine.
type Lease struct {
	backend *Backend
	inst    *Instance
	// Waited says that the request did not find a free slot when it came.
	Waited bool
}

// Peer returns the connections of the instance.
func (l *Lease) Peer() Peer { return l.inst.peer }

// Instance returns the name of the pod.
func (l *Lease) Instance() string { return l.inst.name }

// overhead is what a waiting request costs beside its head: a goroutine and the buffers of its connection.
const overhead = 16 << 10

// Sized knows the bytes that a request keeps in memory while it waits.
type Sized interface{ HeadSize() int }

// Acquire counts the request in and takes a slot for it, or waits for one until ctx ends. Each success must be followed by [Lease.Release]. Errors are [*Error] or the cause of ctx's end.
func (b *Backend) Acquire(ctx context.Context, r Sized) (Lease, error) {
	now := b.set.config.Now()
	b.mu.Lock()
	b.meter.Arrive(now)
	if b.queue.head == nil {
		if i := b.choose(); i != nil {
			b.occupy(i)
			b.mu.Unlock()
			return Lease{backend: b, inst: i}, nil
		}
	}
	return b.wait(ctx, int64(r.HeadSize())+overhead, false)
}

// Release gives the slot back and counts the request out.
func (l *Lease) Release() {
	b := l.backend
	now := b.set.config.Now()
	b.mu.Lock()
	b.meter.Leave(now)
	l.inst.fails = 0
	b.vacate(l.inst)
	b.mu.Unlock()
}

// Leave counts the request out but keeps its slot, for a program that may still work on it. [Lease.Vacate] must follow.
func (l *Lease) Leave() {
	b := l.backend
	now := b.set.config.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.meter.Leave(now)
}

// Vacate gives back the slot of a request that was counted out.
func (l *Lease) Vacate() {
	l.backend.mu.Lock()
	defer l.backend.mu.Unlock()
	l.backend.vacate(l.inst)
}

// Limited says that the instance may have only so many requests at a time.
func (l *Lease) Limited() bool { return l.backend.limit() > 0 }

// Refused says that the instance took no connection. It leaves the pool until it passes its probe, and the request waits
// for another one, before all others. After an error the request is counted out and must not be released.
func (l *Lease) Refused(ctx context.Context, r Sized) error {
	b := l.backend
	b.mu.Lock()
	if i := l.inst; !i.suspect {
		i.suspect = true
		i.fails++
		b.updatePool(i)
	}
	b.vacate(l.inst)
	b.probe(l.inst)
	if b.queue.head == nil {
		if i := b.choose(); i != nil {
			b.occupy(i)
			l.inst = i
			b.mu.Unlock()
			return nil
		}
	}
	next, err := b.wait(ctx, int64(r.HeadSize())+overhead, true)
	if err == nil {
		*l = next
	}
	return err
}

// wait is called with the lock held and gives it up.
func (b *Backend) wait(ctx context.Context, cost int64, first bool) (Lease, error) {
	if err := b.admit(cost); err != nil {
		b.meter.Leave(b.set.config.Now())
		b.mu.Unlock()
		return Lease{}, err
	}
	w := b.set.waiters.Get().(*waiter)
	if first {
		b.queue.pushFront(w)
	} else {
		b.queue.pushBack(w)
	}
	b.somebodyWaits()
	b.mu.Unlock()

	inst, err := b.await(ctx, w)
	b.set.config.Budget.give(cost)
	if err != nil {
		return Lease{}, err
	}
	return Lease{backend: b, inst: inst, Waited: true}, nil
}

// admit says whether a request may wait.
func (b *Backend) admit(cost int64) error {
	s := b.spec.Load()
	if err := b.hopeless(s); err != nil {
		if s != nil && s.FailureReason != "" {
			b.retryFailed()
		}
		return err
	}
	switch {
	case b.queue.len >= b.set.config.QueueLength:
		return errQueueFull
	case !b.set.config.Budget.take(cost):
		return errMemoryFull
	}
	return nil
}

// hopeless says why it is of no use to wait; nil if it is.
func (b *Backend) hopeless(s *Spec) *Error {
	switch {
	case s == nil:
		return &Error{UnknownBackend, "weir: there is no revision or service " + b.ref.String()}
	case len(b.pool) > 0:
		return nil
	case s.Kind == Service:
		return &Error{NoEndpoints, "weir: service " + b.ref.String() + " has no endpoints"}
	case s.FailureReason != "":
		return b.failure(s)
	}
	return nil
}

// await is called without the lock.
func (b *Backend) await(ctx context.Context, w *waiter) (*Instance, error) {
	select {
	case <-w.ready:
	case <-ctx.Done():
		b.mu.Lock()
		if w.queued {
			b.queue.remove(w)
			b.meter.Leave(b.set.config.Now())
			b.mu.Unlock()
			b.recycle(w)
			return nil, context.Cause(ctx)
		}
		b.mu.Unlock()
		<-w.ready // was granted in the same moment
		if w.inst != nil {
			l := Lease{backend: b, inst: w.inst}
			l.Leave()
			l.Vacate() // not Release: nothing was sent that speaks for the instance
			b.recycle(w)
			return nil, context.Cause(ctx)
		}
	}
	inst, err := w.inst, w.err
	b.recycle(w)
	if err != nil {
		b.mu.Lock()
		b.meter.Leave(b.set.config.Now())
		b.mu.Unlock()
		return nil, err
	}
	return inst, nil
}

func (b *Backend) recycle(w *waiter) {
	w.inst, w.err = nil, nil
	b.set.waiters.Put(w)
}
