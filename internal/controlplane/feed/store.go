// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"cmp"
	"slices"

	"google.golang.org/protobuf/proto"

	"weir.dev/internal/feed/feedpb"
)

// chunk is how many events an update holds at most: gRPC refuses messages of more than 4 MB.
const chunk = 512

// kind is what a key names, in the order in which changes are told: what is led to before what leads there.
type kind int

const (
	kindBackend kind = iota
	kindInstances
	kindIngress
)

type key struct {
	kind kind
	ref  ref
}

// store holds the translated state and who follows it. It is not safe for concurrent use: its owner locks. Values are
// never changed once they are in it, so followers send them without a copy.
type store struct {
	values    map[key]proto.Message
	followers map[*follower]struct{}
}

// follower is one gateway that is being told. Its fields are the store's.
type follower struct {
	changed  map[key]struct{}
	notify   chan struct{} // holds one token while changed is not empty
	complete bool          // the first snapshot was taken
}

func newStore() *store {
	return &store{values: map[key]proto.Message{}, followers: map[*follower]struct{}{}}
}

// set changes a value and marks it for all followers. The same value again is no change.
func (s *store) set(k key, value proto.Message) {
	if old, ok := s.values[k]; ok && proto.Equal(old, value) {
		return
	}
	s.values[k] = value
	s.mark(k)
}

// remove deletes a value.
func (s *store) remove(k key) {
	if _, ok := s.values[k]; ok {
		delete(s.values, k)
		s.mark(k)
	}
}

func (s *store) mark(k key) {
	for f := range s.followers {
		f.changed[k] = struct{}{}
		f.wake()
	}
}

// follow adds a follower to whom all that there is is new.
func (s *store) follow() *follower {
	f := &follower{changed: make(map[key]struct{}, len(s.values)), notify: make(chan struct{}, 1)}
	for k := range s.values {
		f.changed[k] = struct{}{}
	}
	f.wake()
	s.followers[f] = struct{}{}
	return f
}

func (s *store) unfollow(f *follower) { delete(s.followers, f) }

func (f *follower) wake() {
	select {
	case f.notify <- struct{}{}:
	default:
	}
}

// take returns what a follower has not been told yet, as updates to be sent in order, and forgets it.
func (s *store) take(f *follower) []*feedpb.Update {
	events := s.events(f)
	clear(f.changed)
	var updates []*feedpb.Update
	for part := range slices.Chunk(events, chunk) {
		updates = append(updates, &feedpb.Update{Events: part, Complete: f.complete})
	}
	if !f.complete {
		if len(updates) == 0 {
			updates = append(updates, &feedpb.Update{})
		}
		updates[len(updates)-1].Complete = true
		f.complete = true
	}
	return updates
}

// events lists the changes: what is new from backend to ingress, then what is gone from ingress to backend.
func (s *store) events(f *follower) []*feedpb.Event {
	var present, gone []key
	for k := range f.changed {
		if _, ok := s.values[k]; ok {
			present = append(present, k)
		} else {
			gone = append(gone, k)
		}
	}
	slices.SortFunc(present, compareKeys)
	slices.SortFunc(gone, func(a, b key) int { return compareKeys(b, a) })
	events := make([]*feedpb.Event, 0, len(present)+len(gone))
	for _, k := range present {
		events = append(events, upsert(s.values[k]))
	}
	for _, k := range gone {
		switch k.kind {
		case kindIngress:
			events = append(events, &feedpb.Event{Kind: &feedpb.Event_IngressRemoved{IngressRemoved: k.ref.pb()}})
		case kindBackend: // its instances go with it
			events = append(events, &feedpb.Event{Kind: &feedpb.Event_BackendRemoved{BackendRemoved: k.ref.pb()}})
		}
	}
	return events
}

func upsert(value proto.Message) *feedpb.Event {
	switch v := value.(type) {
	case *feedpb.Ingress:
		return &feedpb.Event{Kind: &feedpb.Event_Ingress{Ingress: v}}
	case *feedpb.Backend:
		return &feedpb.Event{Kind: &feedpb.Event_Backend{Backend: v}}
	default:
		return &feedpb.Event{Kind: &feedpb.Event_Instances{Instances: value.(*feedpb.Instances)}}
	}
}

func compareKeys(a, b key) int {
	return cmp.Or(
		cmp.Compare(a.kind, b.kind), cmp.Compare(a.ref.namespace, b.ref.namespace), cmp.Compare(a.ref.name, b.ref.name),
	)
}
