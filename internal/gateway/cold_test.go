// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"weir.dev/internal/feed/feedpb"
)

// Fifty requests at once for a revision at zero: all are held, one poke goes out, none is lost.
func TestColdStartHoldsAll(t *testing.T) {
	eachProtocol(t, func(t *testing.T, r *rig, c *http.Client, speak func(*feedpb.Backend)) {
		var pokes atomic.Int32
		started := make(chan string, 1)
		r.whenPoked(func(p *feedpb.Poke) {
			if pokes.Add(1) > 1 {
				return
			}
			l := listen(t)
			address := l.Addr().String()
			l.Close() // has an address, refuses connections for a while
			r.push(instancesEvent("cold", instance("pod", address, feedpb.Instance_STARTING)))
			started <- address
		})
		r.push(backendEvent("cold", speak))
		r.route("cold.test", to("cold", 100))
		go func() {
			address := <-started
			<-time.After(50 * time.Millisecond)
			appAt(t, address, func(w http.ResponseWriter, req *http.Request) {
				body, _ := io.ReadAll(req.Body)
				_, _ = w.Write(body)
			})
		}()
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				want := fmt.Sprint("request ", i)
				if code, body := post(t, c, "http://cold.test/", want); code != 200 || body != want {
					t.Errorf("%d %q", code, body)
				}
			})
		}
		all.Wait()
		if pokes.Load() == 0 {
			t.Error("no poke")
		}
	})
}

func appAt(t *testing.T, address string, h http.HandlerFunc) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Error(err)
		return
	}
	s := &http.Server{Handler: h, Protocols: new(http.Protocols)}
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(l) }()
	t.Cleanup(func() { s.Close(); <-done })
}

// An HTTP probe decides when an instance gets its first request, not the open port.
func TestHTTPProbeRules(t *testing.T) {
	r := newRig(t)
	var healthy atomic.Bool
	var early, probes atomic.Int32
	address := app(t, func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/health" {
			if probes.Add(1) > 3 {
				healthy.Store(true)
			}
			if !healthy.Load() {
				w.WriteHeader(503)
			}
			return
		}
		if !healthy.Load() {
			early.Add(1)
		}
	})
	r.push(backendEvent("rev", func(b *feedpb.Backend) { b.Probe = &feedpb.Probe{Kind: feedpb.Probe_HTTP, Path: "/health"} }),
		instancesEvent("rev", instance("pod", address, feedpb.Instance_STARTING)))
	r.route("probe.test", to("rev", 100))
	if code, _, _ := get(t, client(t, r.external, false), "http://probe.test/"); code != 200 || early.Load() > 0 {
		t.Errorf("%d, %d requests before the probe passed", code, early.Load())
	}
	asked := probes.Load()
	for range 20 {
		get(t, client(t, r.external, false), "http://probe.test/")
	}
	if probes.Load() != asked {
		t.Errorf("%d probes after the first success", probes.Load()-asked)
	}
}

// A cause that is known answers those who wait and those who come, and goes when an instance serves.
func TestFailureReason(t *testing.T) {
	r := newRig(t)
	c := client(t, r.external, false)
	r.push(backendEvent("bad", nil))
	r.route("bad.test", to("bad", 100))
	fail := func(b *feedpb.Backend) { b.FailureReason, b.FailureMessage = "ImagePullBackOff", "no such image" }
	var once sync.Once
	r.whenPoked(func(*feedpb.Poke) { once.Do(func() { r.push(backendEvent("bad", fail)) }) })
	for n := 0; n < 2 || !r.poked(2); n++ { // one that waited, others that came later and ask for another attempt
		code, body, h := get(t, c, "http://bad.test/")
		if code != 503 || h.Get("Weir-Reason") != "ImagePullBackOff" || h.Get("Retry-After") == "" ||
			body != "weir: revision default/bad cannot start: ImagePullBackOff: no such image\n" {
			t.Fatalf("%d %v %q", code, h, body)
		}
	}
	r.push(backendEvent("bad", nil), instancesEvent("bad", instance("pod", app(t, func(http.ResponseWriter, *http.Request) {}), feedpb.Instance_READY)))
	r.route("bad.test", to("bad", 100))
	if code, body, _ := get(t, c, "http://bad.test/"); code != 200 {
		t.Errorf("%d %q after the cause went", code, body)
	}
}

// With containerConcurrency 1 no instance ever has two requests, however many come and whatever happens to the pods.
func TestHardConcurrency(t *testing.T) {
	eachProtocol(t, func(t *testing.T, r *rig, c *http.Client, speak func(*feedpb.Backend)) {
		var list []*feedpb.Instance
		var worst, total atomic.Int32
		for i := range 3 {
			var now atomic.Int32
			address := app(t, func(w http.ResponseWriter, req *http.Request) {
				if n := now.Add(1); n > worst.Load() {
					worst.Store(n)
				}
				total.Add(1)
				_, _ = io.Copy(io.Discard, req.Body)
				<-time.After(time.Millisecond)
				now.Add(-1)
			})
			list = append(list, instance(fmt.Sprint("pod-", i), address, feedpb.Instance_READY))
		}
		r.push(backendEvent("one", func(b *feedpb.Backend) { speak(b); b.ContainerConcurrency = 1 }), instancesEvent("one", list...))
		r.route("one.test", to("one", 100))
		var all sync.WaitGroup
		for range 40 {
			all.Go(func() {
				for range 20 {
					if code, body := post(t, c, "http://one.test/", "x"); code != 200 {
						t.Errorf("%d %s", code, body)
					}
				}
			})
		}
		churn, stop := context.WithCancel(context.Background())
		var churner sync.WaitGroup
		churner.Go(func() {
			for churn.Err() == nil {
				r.push(instancesEvent("one", list[0]))
				<-time.After(3 * time.Millisecond)
				r.push(instancesEvent("one", list...))
				<-time.After(3 * time.Millisecond)
			}
		})
		all.Wait()
		stop()
		churner.Wait()
		if worst.Load() != 1 || total.Load() != 800 {
			t.Errorf("%d requests, up to %d at a time in one instance", total.Load(), worst.Load())
		}
	})
}

// Weights are exact in each block of a hundred, and the choice is made before any waiting.
func TestWeights(t *testing.T) {
	r := newRig(t)
	c := client(t, r.external, false)
	for _, name := range []string{"a", "b"} {
		r.push(backendEvent(name, nil), instancesEvent(name, instance(name+"-pod", app(t, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, name)
		}), feedpb.Instance_READY)))
	}
	r.route("split.test", to("a", 80), to("b", 20))
	for block := range 3 {
		got := map[string]int{}
		for i := range 100 {
			_, body, _ := get(t, c, "http://split.test/")
			got[body]++
			if i == 50 { // a change elsewhere does not start a new block
				r.route(fmt.Sprintf("other-%d.test", block), to("a", 100))
			}
		}
		if got["a"] != 80 || got["b"] != 20 {
			t.Errorf("block %d: %v", block, got)
		}
	}
	woken := make(chan struct{})
	var once sync.Once
	r.whenPoked(func(p *feedpb.Poke) {
		if p.GetRevision() == "zero" {
			once.Do(func() { close(woken) })
		}
	})
	r.push(backendEvent("zero", nil))
	r.route("zero.test", to("a", 90), to("zero", 10))
	var toZero atomic.Int32
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			_, body, _ := get(t, c, "http://zero.test/")
			if body == "zero" {
				toZero.Add(1)
			}
		})
	}
	<-woken
	r.push(instancesEvent("zero", instance("zero-pod", app(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "zero")
	}), feedpb.Instance_READY)))
	all.Wait()
	if toZero.Load() != 10 {
		t.Errorf("%d of 100 requests came to the revision at zero, want 10", toZero.Load())
	}
}

func (c *controller) poked(times int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.pokes) >= times
}

func (c *controller) whenPoked(f func(*feedpb.Poke)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.onPoke = f
}

// A client that leaves does not make room for the next request before the program is done with its own.
func TestHardConcurrencyWhenClientsLeave(t *testing.T) {
	tests := map[string]struct {
		reason string
		app    func(req *http.Request, hold chan struct{})
	}{
		"Deaf":      {"a program that does not notice", func(_ *http.Request, hold chan struct{}) { <-hold }},
		"Attentive": {"one that does needs a moment to stop", func(req *http.Request, hold chan struct{}) { <-req.Context().Done(); <-hold }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			hold, begun := make(chan struct{}), make(chan struct{}, 2)
			var now, worst atomic.Int32
			r.serve("left.test", func(w http.ResponseWriter, req *http.Request) {
				worst.Store(max(worst.Load(), now.Add(1)))
				begun <- struct{}{}
				test.app(req, hold)
				now.Add(-1)
			}, func(b *feedpb.Backend) { b.ContainerConcurrency = 1 })
			ctx, cancel := context.WithCancel(t.Context())
			left := make(chan struct{})
			go func() {
				defer close(left)
				req, _ := http.NewRequestWithContext(ctx, "GET", "http://left.test/", nil)
				if res, err := client(t, r.external, false).Do(req); err == nil {
					res.Body.Close()
				}
			}()
			<-begun
			cancel()
			<-left
			r.await("the request to be counted out", func() bool {
				n := len(r.stats)
				return n > 0 && r.stats[n-1].GetAverageConcurrency() == 0
			})
			second := make(chan int, 1)
			next, stop := context.WithCancel(t.Context())
			defer stop()
			go func() {
				req, _ := http.NewRequestWithContext(next, "GET", "http://left.test/", nil)
				res, err := client(t, r.external, false).Do(req)
				if err != nil {
					second <- 0
					return
				}
				res.Body.Close()
				second <- res.StatusCode
			}()
			r.await("the second request to wait", func() bool {
				n := len(r.stats)
				return r.stats[n-1].GetWaiting() == 1 && r.stats[n-1].GetInFlight() == 1
			})
			close(hold)
			<-begun
			if worst.Load() != 1 {
				t.Errorf("%d requests at a time: %s", worst.Load(), test.reason)
			}
			stop()
			<-second
		})
	}
}
