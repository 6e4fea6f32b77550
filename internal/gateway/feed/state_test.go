// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"testing"

	"go.uber.org/goleak"

	"weir.dev/internal/feed/feedpb"
	"weir.dev/internal/gateway/backend"
	"weir.dev/internal/gateway/route"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type peer struct{}

func (peer) Close() {}
func (peer) Open()  {}

func newTestState(t *testing.T) *state {
	set := backend.NewSet(backend.Config{NewPeer: func(string, bool) backend.Peer { return peer{} }})
	t.Cleanup(set.Close)
	return newState(set)
}

func ingressOf(name string, generation int64, hosts []string, splits ...*feedpb.Split) *feedpb.Event {
	return &feedpb.Event{Kind: &feedpb.Event_Ingress{Ingress: &feedpb.Ingress{Namespace: "ns", Name: name, Uid: name, Generation: generation,
		Rules: []*feedpb.Rule{{Hosts: hosts, Paths: []*feedpb.Path{{Splits: splits}}}}}}}
}

func to(name string, percent uint32) *feedpb.Split {
	return &feedpb.Split{Backend: &feedpb.Ref{Namespace: "ns", Name: name}, Percent: percent}
}

func revision(name, uid string) *feedpb.Event {
	return &feedpb.Event{Kind: &feedpb.Event_Backend{Backend: &feedpb.Backend{Namespace: "ns", Name: name, Uid: uid}}}
}

func removed(name string) *feedpb.Event {
	return &feedpb.Event{Kind: &feedpb.Event_BackendRemoved{BackendRemoved: &feedpb.Ref{Namespace: "ns", Name: name}}}
}

func apply(s *state, whole bool, events ...*feedpb.Event) (served, unserved int) {
	b := newBatch()
	b.add(events)
	if whole {
		s.resync(b)
	}
	in, out := s.apply(b)
	return len(in), len(out)
}

func (s *state) find(host string) *path {
	p, _ := s.table.Load().Match(host, "/", nil, false)
	return p
}

func (s *state) count() (n int) {
	s.set.Each(func(*backend.Backend) { n++ })
	return n
}

func TestStateFollowsTheFeed(t *testing.T) {
	s := newTestState(t)
	steps := []struct {
		what             string
		whole            bool
		events           []*feedpb.Event
		served, unserved int
		host             string
		known            bool // the host leads to a backend that the feed knows
		backends         int
	}{
		{"the first snapshot", true, []*feedpb.Event{revision("a", "1"), ingressOf("i", 1, []string{"H.test"}, to("a", 100))}, 1, 0, "h.test", true, 1},
		{"the same again changes nothing", true, []*feedpb.Event{ingressOf("i", 1, []string{"H.test"}, to("a", 100)), revision("a", "1")}, 0, 0, "h.test", true, 1},
		{"an ingress may lead to what is not known", false, []*feedpb.Event{ingressOf("i", 2, []string{"h.test"}, to("b", 100))}, 1, 0, "h.test", false, 2},
		{"until it comes", false, []*feedpb.Event{revision("b", "2"), removed("a")}, 0, 0, "h.test", true, 1},
		{"in order within one update", false, []*feedpb.Event{removed("b"), revision("b", "3")}, 0, 0, "h.test", true, 1},
		{"the last word counts", false, []*feedpb.Event{revision("b", "4"), removed("b")}, 0, 0, "h.test", false, 1},
		{"another host", false, []*feedpb.Event{revision("b", "5"), ingressOf("i", 3, []string{"other.test"}, to("b", 100))}, 1, 0, "other.test", true, 1},
		{"a snapshot without it", true, nil, 0, 1, "", false, 0},
	}
	for _, step := range steps {
		served, unserved := apply(s, step.whole, step.events...)
		if served != step.served || unserved != step.unserved || s.count() != step.backends {
			t.Errorf("%s: %d served, %d not, %d backends", step.what, served, unserved, s.count())
		}
		if p := s.find(step.host); (p != nil) != (step.host != "") || p != nil && (p.Pick().Target.Spec() != nil) != step.known {
			t.Errorf("%s: %+v", step.what, p)
		}
	}
}

func TestDecksAreKept(t *testing.T) {
	s := newTestState(t)
	deckOf := func(generation int64, splits ...*feedpb.Split) route.Deck {
		apply(s, false, ingressOf("i", generation, []string{"h.test"}, splits...))
		return s.find("h.test").Deck
	}
	first := deckOf(1, to("a", 80), to("b", 20))
	if deckOf(2, to("a", 80), to("b", 20)) != first {
		t.Error("the same splits are dealt from a new deck")
	}
	if deckOf(3, to("a", 70), to("b", 30)) == first || deckOf(4, to("a", 70), to("c", 30)) == first {
		t.Error("other splits are dealt from the old deck")
	}
	if deckOf(5, to("a", 100)) != nil {
		t.Error("a deck for nothing")
	}
}

func TestConversion(t *testing.T) {
	in := &feedpb.Ingress{Namespace: "ns", Name: "i", Rules: []*feedpb.Rule{{Hosts: []string{"a.test"}, Paths: []*feedpb.Path{{
		Headers:       map[string]string{"knative-serving-tag": "blue"},
		AppendHeaders: map[string]string{"x-good": "1", "bad name": "2", "X-Bad-Value": "a\r\nb"},
		Splits:        []*feedpb.Split{to("a", 100)},
	}}}}}
	set := backend.NewSet(backend.Config{})
	defer set.Close()
	p := build(in, nil, set.Hold).Rules[0].Paths[0]
	if len(p.Append) != 1 || p.Append[0].Name != "X-Good" || p.Headers[0].Name != "Knative-Serving-Tag" {
		t.Errorf("%+v", p)
	}
	s := spec(&feedpb.Backend{Uid: "u", Kind: feedpb.Backend_SERVICE, Protocol: feedpb.Backend_H2C, ContainerConcurrency: 3, TimeoutMs: 1500,
		Probe: &feedpb.Probe{Kind: feedpb.Probe_POD_READY, Scheme: "HTTPS", TimeoutMs: 2000}})
	if s.Kind != backend.Service || !s.H2C || s.Concurrency != 3 || s.Timeout.Milliseconds() != 1500 || !s.Probe.HTTPS || s.Probe.Timeout.Seconds() != 2 {
		t.Errorf("%+v", s)
	}
	for state, want := range map[feedpb.Instance_State]backend.State{
		feedpb.Instance_STARTING: backend.Starting, feedpb.Instance_READY: backend.Ready,
		feedpb.Instance_NOT_READY: backend.NotReady, feedpb.Instance_TERMINATING: backend.Terminating,
	} {
		if got := endpoints([]*feedpb.Instance{{State: state}})[0].State; got != want {
			t.Errorf("%v became %v", state, got)
		}
	}
}

// A controller that does not read for a while gets the last word on everything, and nothing twice.
func TestMailboxKeepsTheLastWord(t *testing.T) {
	m := newMailbox()
	name := route.Ref{Namespace: "ns", Name: "i"}
	m.addServed([]*feedpb.Served{{Namespace: "ns", Name: "i", Generation: 1}}, nil)
	m.addServed([]*feedpb.Served{{Namespace: "ns", Name: "i", Generation: 2}}, nil)
	m.addServed(nil, []route.Ref{{Namespace: "ns", Name: "gone"}})
	if out := m.take(); len(out.Served) != 1 || out.Served[0].Generation != 2 || len(out.Unserved) != 1 {
		t.Errorf("%v", out)
	}
	m.addServed(nil, []route.Ref{name})
	m.addServed([]*feedpb.Served{{Namespace: "ns", Name: "i", Generation: 3}}, nil)
	m.addServed(nil, []route.Ref{name})
	if out := m.take(); len(out.Served) != 0 || len(out.Unserved) != 1 {
		t.Errorf("%v", out)
	}
	if out := m.take(); len(out.Served)+len(out.Unserved)+len(out.Stats)+len(out.Pokes) != 0 {
		t.Errorf("%v", out)
	}
	for range 3 {
		m.addStats(make([]*feedpb.RevisionStats, maxStats/2+1), nil)
	}
	if out := m.take(); len(out.Stats) > maxStats+2 {
		t.Errorf("%d figures wait", len(out.Stats))
	}
}

// Revisions without requests are left out of reports, but for one that shows that the gateway measures.
func TestQuietRevisionsAreNotReported(t *testing.T) {
	s := newTestState(t)
	apply(s, true, revision("a", "1"), revision("b", "2"), revision("c", "3"))
	for period, want := range []int{3, 1, 1} { // a last zero, then none
		if stats, _ := measure(s.set); len(stats) != want {
			t.Errorf("period %d: %d", period, len(stats))
		}
	}
}
