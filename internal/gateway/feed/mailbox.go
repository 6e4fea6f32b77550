// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"sync"

	"weir.dev/internal/feed/feedpb"
	"weir.dev/internal/gateway/backend"
	"weir.dev/internal/gateway/route"
)

// mailbox collects what is to be sent on one stream, so that a slow controller neither delays the others nor a request.
type mailbox struct {
	news chan struct{} // holds one signal while there is something to send

	mu       sync.Mutex
	stats    []*feedpb.RevisionStats
	pokes    map[route.Ref]*feedpb.Poke
	woken    map[route.Ref]*backend.Backend // pokes whose figures are looked up when they are sent
	served   map[route.Ref]*feedpb.Served
	unserved map[route.Ref]struct{}
}

// maxStats bounds the statistics that wait for a controller that does not read: about ten periods of a large gateway.
const maxStats = 100_000

func newMailbox() *mailbox {
	return &mailbox{
		news:  make(chan struct{}, 1),
		pokes: map[route.Ref]*feedpb.Poke{}, woken: map[route.Ref]*backend.Backend{},
		served: map[route.Ref]*feedpb.Served{}, unserved: map[route.Ref]struct{}{},
	}
}

// touch asks for a message.
func (m *mailbox) touch() {
	select {
	case m.news <- struct{}{}:
	default:
	}
}

func (m *mailbox) addStats(stats []*feedpb.RevisionStats, pokes []*feedpb.Poke) {
	m.mu.Lock()
	if len(m.stats) < maxStats {
		m.stats = append(m.stats, stats...)
	}
	for _, p := range pokes {
		m.pokes[route.Ref{Namespace: p.GetNamespace(), Name: p.GetRevision()}] = p
	}
	m.mu.Unlock()
	m.touch()
}

func (m *mailbox) addPoke(b *backend.Backend) {
	m.mu.Lock()
	m.woken[b.Ref()] = b
	m.mu.Unlock()
	m.touch()
}

func (m *mailbox) addServed(served []*feedpb.Served, unserved []route.Ref) {
	m.mu.Lock()
	for _, s := range served {
		name := route.Ref{Namespace: s.GetNamespace(), Name: s.GetName()}
		m.served[name] = s
		delete(m.unserved, name)
	}
	for _, name := range unserved {
		delete(m.served, name)
		m.unserved[name] = struct{}{}
	}
	m.mu.Unlock()
	if len(served)+len(unserved) > 0 {
		m.touch()
	}
}

// take empties the box into a message.
func (m *mailbox) take() *feedpb.GatewayReport {
	m.mu.Lock()
	out := &feedpb.GatewayReport{Stats: m.stats}
	for _, s := range m.served {
		out.Served = append(out.Served, s)
	}
	for name := range m.unserved {
		out.Unserved = append(out.Unserved, &feedpb.Ref{Namespace: name.Namespace, Name: name.Name})
	}
	pokes, woken := m.pokes, m.woken
	m.stats = nil
	m.pokes, m.woken = map[route.Ref]*feedpb.Poke{}, map[route.Ref]*backend.Backend{}
	m.served, m.unserved = map[route.Ref]*feedpb.Served{}, map[route.Ref]struct{}{}
	m.mu.Unlock()

	for name, b := range woken {
		if p := poke(b, b.Waiting()); p != nil {
			pokes[name] = p
		}
	}
	for _, p := range pokes {
		out.Pokes = append(out.Pokes, p)
	}
	return out
}

// measure ends a period of all revisions. Those without requests are left out, which says that their figures are zero; but
// the list is not empty while there are revisions, since it also says that the gateway measures.
func measure(set *backend.Set) (stats []*feedpb.RevisionStats, pokes []*feedpb.Poke) {
	var quiet *feedpb.RevisionStats
	set.Each(func(b *backend.Backend) {
		s := b.Spec()
		if s == nil || s.Kind != backend.Revision {
			return
		}
		r := b.Report()
		if r.Quiet && quiet != nil {
			return
		}
		out := &feedpb.RevisionStats{
			Namespace: b.Ref().Namespace, Revision: b.Ref().Name, Uid: s.UID,
			AverageConcurrency: r.Concurrency, Requests: r.Requests, PeriodNs: int64(r.Length),
			Waiting: uint32(r.Waiting), InFlight: uint32(r.InFlight),
		}
		if r.Quiet {
			quiet = out
			return
		}
		for uid, n := range r.Loads {
			out.Loads = append(out.Loads, &feedpb.InstanceLoad{Uid: uid, InFlight: uint32(n)})
		}
		stats = append(stats, out)
		if r.Starved {
			pokes = append(pokes, poke(b, r.Waiting))
		}
	})
	if len(stats) == 0 && quiet != nil {
		stats = append(stats, quiet)
	}
	return stats, pokes
}

// poke returns nil for a backend that cannot be woken. A request that is refused for a known failure does not wait, but
// wants another attempt all the same: it counts as one.
func poke(b *backend.Backend, waiting int) *feedpb.Poke {
	s := b.Spec()
	if s == nil || s.Kind != backend.Revision {
		return nil
	}
	return &feedpb.Poke{Namespace: b.Ref().Namespace, Revision: b.Ref().Name, Uid: s.UID, Waiting: uint32(max(1, waiting))}
}
