// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"sync/atomic"

	"google.golang.org/protobuf/proto"

	"weir.dev/internal/feed/feedpb"
	"weir.dev/internal/gateway/backend"
	"weir.dev/internal/gateway/forward"
	"weir.dev/internal/gateway/route"
)

// state is what the gateway has in place. Only the follower's goroutine changes it; the table is read by all.
type state struct {
	set       *backend.Set
	table     atomic.Pointer[forward.Table] // nil before the first complete snapshot
	ingresses map[route.Ref]*placed
	backends  map[route.Ref]*feedpb.Backend
}

// placed is an Ingress in the table, with the backends that it holds.
type placed struct {
	message *feedpb.Ingress
	built   *ingress
	held    []*backend.Backend
}

func newState(set *backend.Set) *state {
	return &state{set: set, ingresses: map[route.Ref]*placed{}, backends: map[route.Ref]*feedpb.Backend{}}
}

// resync extends a batch that holds a whole snapshot by the removal of everything else.
func (s *state) resync(b *batch) {
	for name := range s.ingresses {
		if _, ok := b.ingresses[name]; !ok {
			b.ingresses[name] = nil
		}
	}
	for name := range s.backends {
		if _, ok := b.backends[name]; !ok {
			b.backends[name] = nil
		}
	}
	for name, m := range b.backends {
		if _, ok := b.instances[name]; !ok && m != nil {
			b.instances[name] = nil
		}
	}
}

// apply puts a batch in place and returns the Ingresses that are now served in another version. What requests are sent to
// is there before the table that sends them, and goes only after it.
func (s *state) apply(b *batch) (served []*feedpb.Served, unserved []route.Ref) {
	for name, m := range b.backends {
		if m != nil && !proto.Equal(m, s.backends[name]) {
			s.backends[name] = m
			s.set.Update(name, spec(m))
		}
	}
	for name, list := range b.instances {
		s.set.Replace(name, endpoints(list))
	}
	served, unserved = s.applyIngresses(b)
	for name, m := range b.backends {
		if m == nil {
			delete(s.backends, name)
			s.set.Remove(name)
		}
	}
	return served, unserved
}

func (s *state) applyIngresses(b *batch) (served []*feedpb.Served, unserved []route.Ref) {
	var changes []route.Change[*backend.Backend]
	var released []*backend.Backend
	for name, m := range b.ingresses {
		old := s.ingresses[name]
		if m == nil && old == nil || old != nil && proto.Equal(m, old.message) {
			continue
		}
		var change route.Change[*backend.Backend]
		if old != nil {
			change.Old = old.built
			released = append(released, old.held...)
		}
		if m == nil {
			delete(s.ingresses, name)
			unserved = append(unserved, name)
		} else {
			next := s.place(m, change.Old)
			s.ingresses[name], change.New = next, next.built
			served = append(served, &feedpb.Served{Namespace: m.GetNamespace(), Name: m.GetName(), Uid: m.GetUid(), Generation: m.GetGeneration()})
		}
		changes = append(changes, change)
	}
	table := s.table.Load()
	if table == nil {
		table = route.New[*backend.Backend]()
	}
	s.table.Store(table.Apply(changes...))
	for _, held := range released {
		s.set.Unhold(held)
	}
	return served, unserved
}

func (s *state) place(m *feedpb.Ingress, old *ingress) *placed {
	p := &placed{message: m}
	p.built = build(m, old, func(name route.Ref) *backend.Backend {
		b := s.set.Hold(name)
		p.held = append(p.held, b)
		return b
	})
	return p
}
