// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"context"
	"time"

	"weir.dev/internal/gateway/probe"
)

// Back-off of probes: from first, doubling, up to busy while somebody waits for the instance and idle if nobody does.
const (
	first = time.Millisecond
	busy  = 50 * time.Millisecond
	idle  = time.Second
)

// wakeEvery is how often a revision that is known to fail is tried again while requests come.
const wakeEvery = int64(time.Second)

func (b *Backend) wake() {
	if s := b.spec.Load(); s != nil && s.Kind == Revision {
		b.poked = b.set.config.Now()
		b.set.config.Wake(b)
	}
}

// retryFailed asks for another attempt on behalf of a request that is refused: without it a revision would stay failed.
func (b *Backend) retryFailed() {
	if now := b.set.config.Now(); now-b.poked >= wakeEvery {
		b.wake()
	}
}

// somebodyWaits does what can be done to get the queue moving: it asks all instances that may be able to serve without
// their pods being Ready yet, and for a start if there is nothing to wait for.
func (b *Backend) somebodyWaits() {
	if b.queue.head == nil {
		return
	}
	if len(b.pool) == 0 {
		b.wake()
	}
	for _, i := range b.instances {
		b.probe(i)
	}
}

// probe starts a goroutine that asks the instance until it passes or need not be asked any more.
func (b *Backend) probe(i *Instance) {
	if i.probing || !b.askable(i) {
		return
	}
	i.probing = b.set.spawn(func(ctx context.Context) { b.ask(ctx, i) })
}

// askable says whether the answer of an instance could make it usable. A suspect is always asked, a starting one only
// while somebody waits and never if only its pod's condition counts.
func (b *Backend) askable(i *Instance) bool {
	s := b.spec.Load()
	if s == nil || i.gone || i.drained {
		return false
	}
	if i.suspect {
		return i.state == Ready || i.state == Starting
	}
	return i.state == Starting && !i.proved && b.queue.head != nil && s.Probe.Kind != podReady
}

// ask returns when the instance passed. One that was believed before, and refused again, is asked only after a pause.
func (b *Backend) ask(ctx context.Context, i *Instance) {
	b.mu.Lock()
	delay := min(first<<min(i.fails, 10), busy)
	if i.suspect && i.fails > 1 {
		b.mu.Unlock()
		pause(ctx, delay)
		b.mu.Lock()
	}
	for b.askable(i) && ctx.Err() == nil {
		spec, suspect := b.spec.Load().Probe, i.suspect
		b.mu.Unlock()
		err := b.set.config.Probe(ctx, i.address, spec)
		if err == nil && suspect { // it refused requests, which need not go to the port of the probe
			err = b.set.config.Probe(ctx, i.address, probe.Spec{Kind: probe.TCP})
		}
		b.mu.Lock()
		if err == nil {
			b.passed(i)
			break
		}
		ceiling := idle
		if b.queue.head != nil {
			ceiling = busy
		}
		delay = min(delay, ceiling)
		b.mu.Unlock()
		pause(ctx, delay)
		delay *= 2
		b.mu.Lock()
	}
	i.probing = false
	b.mu.Unlock()
}

func (b *Backend) passed(i *Instance) {
	if i.state == Starting {
		i.proved = true
	}
	i.suspect = false
	b.updatePool(i)
	b.dispatch()
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
