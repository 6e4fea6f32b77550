// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package autoscaler

import (
	"sync"
	"sync/atomic"
	"time"

	"weir.dev/api/autoscaling"
	"weir.dev/internal/autoscaler/decide"
	"weir.dev/internal/feed/feedpb"
)

// loop is what is remembered of one PodAutoscaler between decisions.
type loop struct {
	mu       sync.Mutex
	uid      string // of the revision
	settings settings
	scaler   *decide.Scaler
	decision decide.Decision
	began    bool      // the first decision was made
	losses   int       // of the coverage, as of the last decision
	since    time.Time // measurements before it do not count: it did not exist, or was at zero
	loads    map[string]load

	asleep atomic.Bool // no instance and no request: ticks pass it by

	// scaling is held from the choice of a scale until it is written, so that a wake-up and a wish for zero do not cross.
	scaling sync.Mutex
	// applied is the scale last written and the version of the Deployment that was known then: caches are late.
	// Guarded by scaling.
	applied struct {
		version  string
		replicas int32
	}
}

// load is what a gateway last said about a revision.
type load struct {
	at        time.Time
	busy      bool // a request waits or is in hand
	waiting   int
	instances map[string]uint32 // requests in hand by pod UID
}

func newLoop(uid string, s settings, now time.Time) *loop {
	return &loop{
		uid: uid, settings: s, since: now, scaler: decide.New(s.params), decision: decide.Decision{Desired: decide.Unknown},
		loads: map[string]load{},
	}
}

// configure takes over settings. Another metric or revision starts from nothing.
func (l *loop) configure(uid string, s settings) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if uid != l.uid || s.metric != l.settings.metric {
		l.scaler, l.began = decide.New(s.params), false
	}
	l.uid, l.settings = uid, s
	l.scaler.SetParams(s.params)
	l.asleep.Store(false)
}

// record takes in a gateway's figures of a period that ended now. It says whether requests wait.
func (l *loop) record(gateway string, now time.Time, s *feedpb.RevisionStats) (waits bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.Uid != "" && l.uid != "" && s.Uid != l.uid {
		return false
	}
	period := time.Duration(s.PeriodNs)
	amount := s.AverageConcurrency * period.Seconds()
	if l.settings.metric == autoscaling.RPS {
		amount = float64(s.Requests)
	}
	l.scaler.Add(now, period, amount)
	if amount > 0 || s.Waiting+s.InFlight > 0 {
		l.asleep.Store(false)
	}
	l.note(gateway, now, s)
	return s.Waiting > 0
}

// note keeps the newest figures; idle gateways need no entry.
func (l *loop) note(gateway string, now time.Time, s *feedpb.RevisionStats) {
	if s.Waiting+s.InFlight == 0 {
		delete(l.loads, gateway)
		return
	}
	entry := load{at: now, busy: true, waiting: int(s.Waiting)}
	if len(s.Loads) > 0 {
		entry.instances = make(map[string]uint32, len(s.Loads))
		for _, i := range s.Loads {
			entry.instances[i.Uid] = i.InFlight
		}
	}
	l.loads[gateway] = entry
}

// poke notes that requests wait at a gateway, which the next figures may correct. It says whether that is news about
// this revision.
func (l *loop) poke(gateway string, now time.Time, p *feedpb.Poke) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.Uid != "" && l.uid != "" && p.Uid != l.uid {
		return false
	}
	entry := l.loads[gateway]
	entry.at, entry.busy, entry.waiting = now, true, max(int(p.Waiting), 1)
	l.loads[gateway] = entry
	l.asleep.Store(false)
	return true
}

// moment is what a decision is made from, beside what the loop remembers.
type moment struct {
	now      time.Time
	coverage span
	current  func(gateway string, at time.Time) bool
	ready    int32
	replicas int32 // that the Deployment asks for
}

// decide makes a decision now.
func (l *loop) decide(m moment) decide.Decision {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begin(m)
	busy, waiting := l.busy(m.current)
	if m.ready == 0 && m.replicas == 0 && l.decision.Desired <= 0 {
		l.since = m.now // whatever was measured before is not about the instances to come
	}
	in := decide.Input{Now: m.now, Since: m.coverage.since, Until: m.coverage.until, Ready: m.ready, Waiting: waiting}
	if l.since.After(in.Since) {
		in.Since = l.since
	}
	l.decision = l.scaler.Decide(in)
	if l.decision.Desired == decide.Unknown && m.ready == 0 && m.replicas == 0 && !busy {
		l.decision.Desired = 0 // nothing runs and nobody asks: that is known without any average
	}
	l.asleep.Store(m.ready == 0 && m.replicas == 0 && !busy && l.decision.Desired <= 0)
	return l.decision
}

// begin tells the scaler about instances that it has not seen coming, and about lost measurements.
func (l *loop) begin(m moment) {
	switch {
	case !l.began:
		l.scaler.Begin(m.now, m.ready)
	case l.losses != m.coverage.losses:
		floor := m.ready
		if l.decision.Desired != decide.Unknown {
			floor = min(floor, l.decision.Desired)
		}
		l.scaler.Hold(m.now, floor)
	}
	l.began, l.losses = true, m.coverage.losses
}

// hold forbids to go below count for one window: a revision that just became ready has its requests still to come.
func (l *loop) hold(now time.Time, count int32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.scaler.Hold(now, count)
	l.decision.Desired = max(l.decision.Desired, count)
}

// busy sums up what the gateways' newest figures say.
func (l *loop) busy(current func(string, time.Time) bool) (busy bool, waiting int) {
	for gateway, entry := range l.loads {
		if !current(gateway, entry.at) {
			delete(l.loads, gateway)
			continue
		}
		busy = busy || entry.busy
		waiting += entry.waiting
	}
	return busy, waiting
}

// latest is the last decision; made is false before the first one.
func (l *loop) latest() (d decide.Decision, made bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.decision, l.began
}

// isBusy says whether a request waits or is in hand.
func (l *loop) isBusy(current func(string, time.Time) bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	busy, _ := l.busy(current)
	return busy
}

// inHand sums up the requests in hand by pod UID.
func (l *loop) inHand() map[string]uint32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[string]uint32{}
	for _, entry := range l.loads {
		for uid, n := range entry.instances {
			out[uid] += n
		}
	}
	return out
}
