// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"weir.dev/internal/gateway/probe"
	"weir.dev/internal/gateway/route"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type fakePeer struct{ closed atomic.Bool }

func (p *fakePeer) Close() { p.closed.Store(true) }
func (p *fakePeer) Open()  { p.closed.Store(false) }

type sized int

func (s sized) HeadSize() int { return int(s) }

var name = route.Ref{Namespace: "default", Name: "rev"}

// world is a set with one backend, whose instances answer probes as the test says.
type world struct {
	*Set
	b      *Backend
	wakes  atomic.Int32
	probes atomic.Int32
	serves func(address string) bool
}

func newWorld(t *testing.T, spec Spec, change func(*Config)) *world {
	w := &world{}
	c := Config{
		NewPeer: func(string, bool) Peer { return &fakePeer{} },
		Wake:    func(*Backend) { w.wakes.Add(1) },
		Probe: func(_ context.Context, address string, _ probe.Spec) error {
			w.probes.Add(1)
			if w.serves == nil || !w.serves(address) {
				return errors.New("refused")
			}
			return nil
		},
	}
	if change != nil {
		change(&c)
	}
	w.Set = NewSet(c)
	t.Cleanup(w.Close)
	w.b = w.Hold(name)
	if spec.UID == "" {
		spec.UID = "revision"
	}
	w.Update(name, &spec)
	return w
}

func at(uid string, s State) Endpoint {
	return Endpoint{UID: uid, Name: uid, Address: uid + ":80", State: s}
}

func (w *world) instances(list ...Endpoint) { w.Replace(name, list) }

// acquire starts a request and returns where it gets to.
func (w *world) acquire(ctx context.Context) chan outcome {
	c := make(chan outcome, 1)
	go func() {
		l, err := w.b.Acquire(ctx, sized(100))
		c <- outcome{l, err}
	}()
	return c
}

type outcome struct {
	Lease
	err error
}

func TestQueueIsFirstInFirstOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Spec{Concurrency: 1}, nil)
		defer w.Close()
		var order []int
		var mu sync.Mutex
		var all sync.WaitGroup
		for i := range 5 {
			all.Go(func() {
				l, err := w.b.Acquire(t.Context(), sized(1))
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
				l.Release()
			})
			synctest.Wait()
		}
		if w.wakes.Load() != 5 || w.b.Waiting() != 5 {
			t.Errorf("%d wake-ups, %d waiting", w.wakes.Load(), w.b.Waiting())
		}
		w.instances(at("a", Ready))
		all.Wait()
		if fmt.Sprint(order) != "[0 1 2 3 4]" {
			t.Errorf("order %v", order)
		}
		if w.config.Budget.Used() != 0 {
			t.Errorf("%d bytes are still taken", w.config.Budget.Used())
		}
	})
}

func TestCallersThatGiveUpLeaveAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Spec{}, nil)
		defer w.Close()
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := w.acquire(ctx)
		stays := w.acquire(t.Context())
		synctest.Wait()
		why := errors.New("left")
		cancel(why)
		if o := <-gone; !errors.Is(o.err, why) {
			t.Errorf("%v", o.err)
		}
		if n := w.b.Waiting(); n != 1 {
			t.Errorf("%d waiting", n)
		}
		w.instances(at("a", Ready))
		o := <-stays
		if o.err != nil || !o.Waited {
			t.Errorf("%+v", o)
		}
		o.Release()
		if r := w.b.Report(); r.InFlight != 0 || r.Waiting != 0 || r.Requests != 2 {
			t.Errorf("%+v", r)
		}
	})
}

func TestBounds(t *testing.T) {
	tests := map[string]struct {
		reason string
		config func(*Config)
		want   string
	}{
		"Count": {"as many as may wait do", func(c *Config) { c.QueueLength = 2 }, QueueFull},
		"Bytes": {"of all backends together", func(c *Config) { c.Budget = NewBudget(2 * (overhead + 100)) }, MemoryFull},
	}
	for n, test := range tests {
		t.Run(n, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, Spec{}, test.config)
				defer w.Close()
				ctx, cancel := context.WithCancel(t.Context())
				for range 2 {
					w.acquire(ctx)
				}
				synctest.Wait()
				var refused *Error
				if o := <-w.acquire(ctx); !errors.As(o.err, &refused) || refused.Reason != test.want {
					t.Errorf("%v, want %s: %s", o.err, test.want, test.reason)
				}
				cancel()
				synctest.Wait()
				w.instances(at("a", Ready))
				if o := <-w.acquire(t.Context()); o.err != nil {
					t.Errorf("after the others left: %v", o.err)
				}
			})
		})
	}
}

func TestRefusals(t *testing.T) {
	tests := map[string]struct {
		reason    string
		spec      Spec
		instances []Endpoint
		want      string
		wakes     int32
	}{
		"Failed":             {"a known cause is told at once, and another attempt asked for", Spec{FailureReason: "OOMKilled"}, nil, "OOMKilled", 1},
		"FailedNotReady":     {"an instance that cannot serve changes nothing", Spec{FailureReason: "OOMKilled"}, []Endpoint{at("a", NotReady)}, "OOMKilled", 1},
		"FailedButServing":   {"whoever can serve does", Spec{FailureReason: "OOMKilled"}, []Endpoint{at("a", Ready)}, "", 0},
		"ServiceWithout":     {"a Service cannot be woken", Spec{Kind: Service}, nil, NoEndpoints, 0},
		"ServiceWith":        {"", Spec{Kind: Service}, []Endpoint{at("a", Ready)}, "", 0},
		"ServiceTerminating": {"", Spec{Kind: Service}, []Endpoint{at("a", Terminating)}, NoEndpoints, 0},
	}
	for n, test := range tests {
		t.Run(n, func(t *testing.T) {
			w := newWorld(t, test.spec, nil)
			w.instances(test.instances...)
			o := <-w.acquire(t.Context())
			reason := ""
			if e := (*Error)(nil); errors.As(o.err, &e) {
				reason = e.Reason
			}
			if reason != test.want || w.wakes.Load() != test.wakes {
				t.Errorf("%q and %d wake-ups, want %q and %d: %s", reason, w.wakes.Load(), test.want, test.wakes, test.reason)
			}
		})
	}
}

func TestFailureAnswersThoseWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Spec{}, nil)
		defer w.Close()
		a, b := w.acquire(t.Context()), w.acquire(t.Context())
		synctest.Wait()
		w.Update(name, &Spec{UID: "revision", FailureReason: "ImagePullBackOff", FailureMessage: "no image"})
		for _, c := range []chan outcome{a, b} {
			if o := <-c; o.err == nil || o.err.Error() != "weir: revision default/rev cannot start: ImagePullBackOff: no image" {
				t.Errorf("%v", o.err)
			}
		}
		w.acquire(t.Context())
		synctest.Wait()
		if n := w.wakes.Load(); n != 2 {
			t.Errorf("%d wake-ups within a second, want 2", n) // one by each of those that waited, at the same time
		}
		time.Sleep(time.Second)
		<-w.acquire(t.Context())
		if n := w.wakes.Load(); n != 3 {
			t.Errorf("%d wake-ups after a second, want one more", n)
		}
		w.Remove(name)
		var failed *Error
		if o := <-w.acquire(t.Context()); !errors.As(o.err, &failed) || failed.Reason != UnknownBackend {
			t.Errorf("%v", o.err)
		}
	})
}

// The same goes for those who wait for a free slot when the last instance leaves, after the reason came or for any other.
func TestLastInstanceLeaves(t *testing.T) {
	tests := map[string]struct {
		spec  Spec
		leave func(w *world)
		want  string
	}{
		"Failed":  {Spec{FailureReason: "Crash"}, func(w *world) { w.instances() }, "Crash"},
		"Drained": {Spec{FailureReason: "Crash"}, func(w *world) { w.Drain("d", []string{"a"}) }, "Crash"},
		"Service": {Spec{Kind: Service}, func(w *world) { w.instances(at("a", NotReady)) }, NoEndpoints},
	}
	for n, test := range tests {
		t.Run(n, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				test.spec.Concurrency = 1
				w := newWorld(t, test.spec, nil)
				defer w.Close()
				w.instances(at("a", Ready))
				first := <-w.acquire(t.Context())
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				second := w.acquire(ctx)
				synctest.Wait()
				test.leave(w)
				refused := (*Error)(nil)
				if o := <-second; !errors.As(o.err, &refused) || refused.Reason != test.want {
					t.Errorf("%v", o.err)
				}
				first.Release()
			})
		})
	}
}

func TestWhichInstance(t *testing.T) {
	tests := map[string]struct {
		reason string
		limit  int
		busy   []int // requests in hand per instance, by choosing until it is so
		want   string
	}{
		"FirstFree":    {"up to three slots, the first is filled so that the last goes idle", 3, []int{2, 0}, "i0"},
		"FirstFull":    {"", 3, []int{3, 1, 0}, "i1"},
		"LeastLoaded":  {"above, load is spread", 4, []int{2, 1, 3}, "i1"},
		"AnyOfOne":     {"", 0, []int{100}, "i0"},
		"LighterOfTwo": {"without limit, the better of two", 0, []int{5, 1}, "i1"},
		"NoneFree":     {"", 1, []int{1, 1}, ""},
	}
	for n, test := range tests {
		t.Run(n, func(t *testing.T) {
			w := newWorld(t, Spec{Concurrency: test.limit}, nil)
			var list []Endpoint
			for i := range test.busy {
				list = append(list, at(fmt.Sprint("i", i), Ready))
			}
			w.instances(list...)
			for i, n := range test.busy {
				w.b.instances[fmt.Sprint("i", i)].inFlight = n
			}
			got := ""
			if i := w.b.choose(); i != nil {
				got = i.uid
			}
			if got != test.want {
				t.Errorf("%q, want %q: %s", got, test.want, test.reason)
			}
		})
	}
}

// An instance that refused a connection gets nothing until it passes its probe; the request goes on before all others.
func TestRefusedInstanceLeavesAndReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Spec{Concurrency: 1}, nil)
		defer w.Close()
		var healthy atomic.Bool
		w.serves = func(string) bool { return healthy.Load() }
		w.instances(at("a", Ready))
		first := <-w.acquire(t.Context())
		second := w.acquire(t.Context())
		synctest.Wait()
		again := make(chan error, 1)
		go func() { again <- first.Refused(t.Context(), sized(1)) }()
		synctest.Wait()
		time.Sleep(time.Second)
		if n := w.probes.Load(); n < 15 || n > 40 {
			t.Errorf("%d probes in the first second", n)
		}
		healthy.Store(true)
		if err := <-again; err != nil {
			t.Fatal(err)
		}
		select {
		case <-second:
			t.Error("the second request overtook the first")
		default:
		}
		first.Release()
		(<-second).backend.Waiting()
	})
}

// An instance whose probe says nothing about where requests go is not tried again and again without a pause.
func TestProbeOfAnotherPort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var serving atomic.Bool
		var probes atomic.Int32
		w := newWorld(t, Spec{Probe: probe.Spec{Kind: probe.HTTP, Port: 81}}, func(c *Config) {
			c.Probe = func(_ context.Context, _ string, s probe.Spec) error {
				if probes.Add(1); s.Port == 81 || serving.Load() {
					return nil
				}
				return errors.New("refused")
			}
		})
		defer w.Close()
		w.instances(at("a", Ready))
		l := <-w.acquire(t.Context())
		again := make(chan error, 1)
		go func() { again <- l.Refused(t.Context(), sized(1)) }()
		if time.Sleep(time.Second); len(again) != 0 {
			t.Fatal("it is believed though requests cannot reach it")
		}
		if n := probes.Load(); n > 80 {
			t.Errorf("%d probes in a second", n)
		}
		serving.Store(true)
		if err := <-again; err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for range 20 { // it takes connections, but not for requests
			if err := l.Refused(t.Context(), sized(1)); err != nil {
				t.Fatal(err)
			}
		}
		if d := time.Since(began); d < 500*time.Millisecond {
			t.Errorf("20 refusals within %v", d)
		}
		l.Release()
	})
}

func TestStatesAndProbes(t *testing.T) {
	tests := map[string]struct {
		reason string
		kind   probe.Kind
		state  State
		serves bool
		want   bool
	}{
		"Starting":         {"a probe decides", probe.TCP, Starting, true, true},
		"StartingRefuses":  {"", probe.TCP, Starting, false, false},
		"StartingPodReady": {"only the pod's condition counts", probe.PodReady, Starting, true, false},
		"Ready":            {"the pod's condition is enough", probe.HTTP, Ready, false, true},
		"NotReady":         {"", probe.TCP, NotReady, true, false},
		"Terminating":      {"", probe.TCP, Terminating, true, false},
	}
	for n, test := range tests {
		t.Run(n, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, Spec{Probe: probe.Spec{Kind: test.kind}}, nil)
				defer w.Close()
				w.serves = func(string) bool { return test.serves }
				w.instances(at("a", test.state))
				if synctest.Wait(); w.probes.Load() != 0 {
					t.Error("it is probed although nobody waits")
				}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				if o := <-w.acquire(ctx); (o.err == nil) != test.want {
					t.Errorf("%v: %s", o.err, test.reason)
				}
				if test.want && test.state == Starting {
					w.instances(at("a", NotReady))
					if w.b.choose() != nil {
						t.Error("the pod's own condition does not rule afterwards")
					}
				}
				synctest.Wait()
				asked := w.probes.Load()
				if time.Sleep(10 * time.Second); w.probes.Load() != asked {
					t.Error("it is probed although nobody waits any more")
				}
			})
		})
	}
}

// However requests, cancellations and the feed cross each other, no instance has more than its limit and nothing is lost.
func TestHardLimitUnderChaos(t *testing.T) {
	const limit = 2
	w := newWorld(t, Spec{Concurrency: limit}, nil)
	w.serves = func(string) bool { return rand.IntN(2) == 0 }
	states := func() []Endpoint {
		var list []Endpoint
		for i := range 4 {
			if s := State(rand.IntN(5)); s <= Terminating {
				list = append(list, at(fmt.Sprint("i", i), s))
			}
		}
		return append(list, at("steady", Ready))
	}
	w.instances(states()...)
	var inHand sync.Map
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 500 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.IntN(2000))*time.Microsecond)
				l, err := w.b.Acquire(ctx, sized(1))
				if err == nil && rand.IntN(10) == 0 {
					err = l.Refused(ctx, sized(1))
				}
				if err == nil {
					n, _ := inHand.LoadOrStore(l.Instance(), new(atomic.Int32))
					if now := n.(*atomic.Int32).Add(1); now > limit {
						t.Errorf("%d requests in %s", now, l.Instance())
					}
					if rand.IntN(4) == 0 {
						time.Sleep(10 * time.Microsecond)
					}
					n.(*atomic.Int32).Add(-1)
					l.Release()
				}
				cancel()
			}
		})
	}
	stop := make(chan struct{})
	var churn sync.WaitGroup
	churn.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
				w.instances(states()...)
			}
		}
	})
	all.Wait()
	close(stop)
	churn.Wait()
	r := w.b.Report()
	if r.Waiting != 0 || r.InFlight != 0 || w.b.meter.Count() != 0 || w.config.Budget.Used() != 0 || r.Requests != 16*500 {
		t.Errorf("left over: %+v, count %d, bytes %d", r, w.b.meter.Count(), w.config.Budget.Used())
	}
}

func BenchmarkAcquireRelease(b *testing.B) {
	s := NewSet(Config{NewPeer: func(string, bool) Peer { return &fakePeer{} }})
	defer s.Close()
	s.Update(name, &Spec{UID: "u", Concurrency: 100})
	var list []Endpoint
	for i := range 10 {
		list = append(list, at(fmt.Sprint(i), Ready))
	}
	s.Replace(name, list)
	back := s.Hold(name)
	ctx := context.Background()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			l, err := back.Acquire(ctx, sized(1))
			if err != nil {
				b.Fatal(err)
			}
			l.Release()
		}
	})
}
