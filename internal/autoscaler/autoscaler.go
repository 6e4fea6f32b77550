// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package autoscaler

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"

	"weir.dev/api/autoscaling/v1alpha1"
	"weir.dev/api/config"
	"weir.dev/api/serving"
	"weir.dev/internal/feed/feedpb"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/logging"
)

const (
	// tick is the time between decisions.
	tick = 2 * time.Second
	// wakers is how many revisions are woken at the same time.
	wakers = 32
	// backlog is how many wake-ups may wait for a waker; gateways repeat those beyond it.
	backlog = 4096
)

// Autoscaler receives reports, keeps the loops and decides. It is made by New, bound to a set of informers by its
// NewController, and works while Run runs. It is safe for concurrent use.
type Autoscaler struct {
	config  atomic.Pointer[config.Autoscaler]
	wakes   chan types.NamespacedName
	bound   chan struct{} // closed by NewController
	cluster *cluster      // set before bound is closed

	mu       sync.Mutex
	loops    map[types.NamespacedName]*loop
	coverage coverage
}

// New returns an Autoscaler without loops, with the defaults of config-autoscaler until that is known.
func New() *Autoscaler {
	a := &Autoscaler{
		wakes: make(chan types.NamespacedName, backlog), bound: make(chan struct{}),
		loops: map[types.NamespacedName]*loop{}, coverage: coverage{gateways: map[string]*gateway{}},
	}
	a.config.Store(config.FromContextOrDefaults(context.Background()).Autoscaler)
	return a
}

// Report implements feed.Receiver. It does not block.
func (a *Autoscaler) Report(name string, r *feedpb.GatewayReport) {
	now := time.Now()
	a.mu.Lock()
	a.coverage.see(name)
	if r.Ready && len(r.Stats) > 0 {
		a.coverage.report(name, now)
	}
	a.mu.Unlock()
	for _, s := range r.Stats {
		key := types.NamespacedName{Namespace: s.Namespace, Name: s.Revision}
		if l := a.loop(key); l != nil && l.record(name, now, s) {
			a.wake(key)
		}
	}
	for _, p := range r.Pokes {
		key := types.NamespacedName{Namespace: p.Namespace, Name: p.Revision}
		if l := a.loop(key); l != nil && l.poke(name, now, p) {
			a.wake(key)
		}
	}
}

// Disconnected implements feed.Receiver.
func (a *Autoscaler) Disconnected(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.coverage.drop(name)
}

// wake hands a revision to a waker.
func (a *Autoscaler) wake(key types.NamespacedName) {
	select {
	case a.wakes <- key:
	default: // the gateway repeats it with its next report
	}
}

// Run decides until ctx ends. It may be called once.
func (a *Autoscaler) Run(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-a.bound:
	}
	if !controller.WaitForCacheSyncQuick(ctx.Done(), a.cluster.synced...) {
		return nil // stopped: nothing that is half known may be decided upon
	}
	group, ctx := errgroup.WithContext(logging.WithLogger(ctx, a.cluster.log))
	group.Go(func() error {
		a.tickAll(ctx)
		return nil
	})
	for range wakers {
		group.Go(func() error {
			a.wakeAll(ctx)
			return nil
		})
	}
	return group.Wait()
}

func (a *Autoscaler) tickAll(ctx context.Context) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			for _, key := range a.awake() {
				a.tickOne(key)
			}
		}
	}
}

func (a *Autoscaler) wakeAll(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case key := <-a.wakes:
			a.wakeOne(ctx, key)
		}
	}
}

// awake lists the revisions for which a tick may change something.
func (a *Autoscaler) awake() []types.NamespacedName {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []types.NamespacedName
	for key, l := range a.loops {
		if !l.asleep.Load() {
			out = append(out, key)
		}
	}
	return out
}

// tickOne decides about a revision and has it reconciled if that is news.
func (a *Autoscaler) tickOne(key types.NamespacedName) {
	t, err := a.cluster.look(key)
	if err != nil {
		return // gone, or not complete yet: an event will come
	}
	l, _ := a.ensure(t.pa)
	if a.decide(l, t) {
		a.cluster.enqueue(key)
	}
}

// wakeOne scales a revision from zero at once, and has it reconciled.
func (a *Autoscaler) wakeOne(ctx context.Context, key types.NamespacedName) {
	t, err := a.cluster.look(key)
	if err != nil || t.ready > 0 || !a.cluster.leads(key) {
		return
	}
	l, s := a.ensure(t.pa)
	l.scaling.Lock()
	defer l.scaling.Unlock()
	if a.decide(l, t) {
		a.cluster.enqueue(key)
	}
	d, _ := l.latest()
	want := s.bounds.Apply(d.Desired)
	if want <= l.replicas(t.deployment) {
		return
	}
	if err := a.apply(ctx, l, t, want); err != nil {
		logging.FromContext(ctx).Warnw("Cannot wake a revision", "revision", key.String(), "error", err)
		a.cluster.enqueue(key)
	}
}

func (a *Autoscaler) loop(key types.NamespacedName) *loop {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.loops[key]
}

// ensure returns the loop of a PodAutoscaler with its present settings.
func (a *Autoscaler) ensure(pa *v1alpha1.PodAutoscaler) (*loop, settings) {
	s := resolve(pa, a.config.Load())
	uid := pa.Labels[serving.RevisionUID]
	key := types.NamespacedName{Namespace: pa.Namespace, Name: pa.Name}
	a.mu.Lock()
	l := a.loops[key]
	if l == nil {
		l = newLoop(uid, s, time.Now())
		a.loops[key] = l
	}
	a.mu.Unlock()
	l.configure(uid, s)
	return l, s
}

// forget drops the loop of a PodAutoscaler that is gone or has another class.
func (a *Autoscaler) forget(key types.NamespacedName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.loops, key)
}

// decide makes a new decision of a loop and says whether it differs from the last one.
func (a *Autoscaler) decide(l *loop, t target) (news bool) {
	before, made := l.latest()
	now := time.Now()
	a.mu.Lock()
	covered := a.coverage.at(now)
	a.mu.Unlock()
	after := l.decide(moment{
		now: now, coverage: covered, current: a.current, ready: t.ready, replicas: replicas(t.deployment),
	})
	return !made || before.Desired != after.Desired
}

func (a *Autoscaler) current(name string, at time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.coverage.current(name, at)
}
