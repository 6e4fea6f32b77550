// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// drains is how those that wait for terminating instances learn of changes, and which instances a controller wants idle.
type drains struct {
	waiting atomic.Int32
	mu      sync.Mutex
	event   chan struct{}       // closed at the next change; nil if nobody waits
	asked   map[string][]string // instance UIDs by the id of the directive
}

// changed is called, with the lock of a backend held, when an instance began to terminate or ended its last request then.
func (s *Set) changed() {
	if s.watch.waiting.Load() == 0 {
		return
	}
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	if s.watch.event != nil {
		close(s.watch.event)
		s.watch.event = nil
	}
}

func (s *Set) nextChange() <-chan struct{} {
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	if s.watch.event == nil {
		s.watch.event = make(chan struct{})
	}
	return s.watch.event
}

// catchUp is how long the feed may take to name the instance that asks.
const catchUp = time.Second

// Drained returns when no terminating instance of a revision has a request in hand, or with the error of ctx. The caller
// speaks for one such instance, but cannot say for which: so each call first takes one terminating instance that no other
// call took, and gives the feed a second to name it.
func (s *Set) Drained(ctx context.Context, namespace, revisionUID string) error {
	s.watch.waiting.Add(1)
	defer s.watch.waiting.Add(-1)
	late := time.NewTimer(catchUp)
	defer late.Stop()
	found := false
	for {
		next := s.nextChange()
		claimed, inHand := s.terminating(namespace, revisionUID, !found)
		found = found || claimed
		if found && inHand == 0 {
			return nil
		}
		select {
		case <-next:
		case <-late.C:
			found = true
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// terminating counts the requests that terminating instances of the revision have in hand, and claims an instance if asked.
func (s *Set) terminating(namespace, revisionUID string, claim bool) (claimed bool, inHand int) {
	for _, b := range s.inNamespace(namespace) {
		b.mu.Lock()
		for _, i := range b.instances {
			if i.owner != revisionUID || !i.terminating() {
				continue
			}
			inHand += i.inFlight
			if claim && !claimed && !i.claimed {
				i.claimed, claimed = true, true
			}
		}
		b.mu.Unlock()
	}
	return claimed, inHand
}

func (s *Set) inNamespace(namespace string) []*Backend {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*Backend
	for ref, b := range s.backends {
		if ref.Namespace == namespace {
			list = append(list, b)
		}
	}
	return list
}

// Drain sends nothing new to the instances with these UIDs, whatever their state. A later call with the same id replaces
// the list; an empty list takes it back.
func (s *Set) Drain(id string, uids []string) {
	s.watch.mu.Lock()
	if s.watch.asked == nil {
		s.watch.asked = map[string][]string{}
	}
	if len(uids) > 0 {
		s.watch.asked[id] = uids
	} else {
		delete(s.watch.asked, id)
	}
	s.watch.mu.Unlock()
	s.Each(func(b *Backend) { b.applyDrains() })
}

func (s *Set) drainAsked(uid string) bool {
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	for _, list := range s.watch.asked {
		for _, u := range list {
			if u == uid {
				return true
			}
		}
	}
	return false
}

func (b *Backend) applyDrains() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, i := range b.instances {
		i.drained = b.set.drainAsked(i.uid)
		b.updatePool(i)
	}
	b.settle()
}
