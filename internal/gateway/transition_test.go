// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"weir.dev/internal/feed/feedpb"
)

func TestGRPC(t *testing.T) {
	r := newRig(t)
	l := listen(t)
	s := grpc.NewServer()
	h := health.NewServer()
	grpc_health_v1.RegisterHealthServer(s, h)
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(l) }()
	t.Cleanup(func() { s.Stop(); <-done })
	r.push(backendEvent("grpc", func(b *feedpb.Backend) {
		b.Protocol, b.Probe = feedpb.Backend_H2C, &feedpb.Probe{Kind: feedpb.Probe_GRPC}
	}), instancesEvent("grpc", instance("pod", l.Addr().String(), feedpb.Instance_STARTING)))
	r.route("grpc.test", to("grpc", 100))

	conn, err := grpc.NewClient(r.external, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithAuthority("grpc.test"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	c := grpc_health_v1.NewHealthClient(conn)
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	if res, err := c.Check(ctx, &grpc_health_v1.HealthCheckRequest{}); err != nil || res.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		t.Errorf("%v, %v", res, err)
	}
	if _, err := c.Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: "none"}); status.Code(err) != codes.NotFound {
		t.Errorf("a status in trailers only became %v", err)
	}
	watch, err := c.Watch(ctx, &grpc_health_v1.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []grpc_health_v1.HealthCheckResponse_ServingStatus{1, 2, 1} {
		if i > 0 {
			h.SetServingStatus("", want)
		}
		if res, err := watch.Recv(); err != nil || res.GetStatus() != want {
			t.Fatalf("message %d: %v, %v", i, res, err)
		}
	}
}

// The program sees one request from a client that tries to pose as the platform, and the revision cannot be chosen.
func TestSpoofedHeaders(t *testing.T) {
	eachProtocol(t, func(t *testing.T, r *rig, c *http.Client, speak func(*feedpb.Backend)) {
		seen := make(chan http.Header, 1)
		r.serve("mine.test", func(_ http.ResponseWriter, req *http.Request) { seen <- req.Header }, speak)
		r.serve("other.test", func(http.ResponseWriter, *http.Request) { t.Error("the client chose its revision") }, speak)
		req, _ := http.NewRequest("GET", "http://mine.test/", nil)
		for _, name := range []string{"Knative-Serving-Revision", "Knative-Serving-Namespace", "K-Network-Probe", "K-Kubelet-Probe", "K-Proxy-Request", "K-Original-Host"} {
			req.Header[name] = []string{"other.test"}
		}
		req.Header.Set("User-Agent", "kube-probe/1.37")
		req.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
		res, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		h := <-seen
		for name := range h {
			if strings.HasPrefix(name, "K") {
				t.Errorf("the program sees %s: %s", name, h.Get(name))
			}
		}
		if h.Get("Traceparent") == "" || h.Get("Forwarded") != "for=127.0.0.1;host=mine.test;proto=http" || h.Get("User-Agent") != "kube-probe/1.37" {
			t.Errorf("%v", h)
		}
		r.await("the request to be counted", func() bool {
			for _, s := range r.stats {
				if s.GetRevision() == "mine.test" && s.GetRequests() == 1 {
					return true
				}
			}
			return false
		})
	})
}

// An instance that refuses connections is left out at once; requests go to another, and back when it serves again.
func TestRefusingInstance(t *testing.T) {
	eachProtocol(t, func(t *testing.T, r *rig, c *http.Client, speak func(*feedpb.Backend)) {
		l := listen(t)
		broken := l.Addr().String()
		l.Close()
		var good atomic.Int32
		address := app(t, func(http.ResponseWriter, *http.Request) { good.Add(1) })
		r.push(backendEvent("rev", speak),
			instancesEvent("rev", instance("broken", broken, feedpb.Instance_READY), instance("good", address, feedpb.Instance_READY)))
		r.route("refuse.test", to("rev", 100))
		for range 20 {
			if code, body := post(t, c, "http://refuse.test/", "x"); code != 200 {
				t.Fatalf("%d %s", code, body)
			}
		}
		if good.Load() != 20 {
			t.Errorf("%d", good.Load())
		}
		healed := make(chan struct{})
		var once sync.Once
		appAt(t, broken, func(http.ResponseWriter, *http.Request) { once.Do(func() { close(healed) }) })
		for {
			if code, _ := post(t, c, "http://refuse.test/", "x"); code != 200 {
				t.Fatal(code)
			}
			select {
			case <-healed:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	})
}

// A program that fails with a request in hand costs that request, and nobody sees it twice.
func TestFailureIsNotRepeated(t *testing.T) {
	eachProtocol(t, func(t *testing.T, r *rig, c *http.Client, speak func(*feedpb.Backend)) {
		var seen atomic.Int32
		r.serve("crash.test", func(http.ResponseWriter, *http.Request) {
			seen.Add(1)
			panic(http.ErrAbortHandler)
		}, speak)
		for n := range 3 {
			if code, _, h := get(t, c, "http://crash.test/"); code != 502 || h.Get("Weir-Reason") != "InstanceFailed" || seen.Load() != int32(n+1) {
				t.Fatalf("%d %v, seen %d times", code, h, seen.Load())
			}
		}
	})
}

// A response that breaks off does not look whole.
func TestBrokenResponse(t *testing.T) {
	for _, length := range []bool{false, true} {
		eachProtocol(t, func(t *testing.T, r *rig, c *http.Client, speak func(*feedpb.Backend)) {
			r.serve("broken.test", func(w http.ResponseWriter, _ *http.Request) {
				if length {
					w.Header().Set("Content-Length", "100")
				}
				_, _ = io.WriteString(w, "half")
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}, speak)
			res, err := c.Get("http://broken.test/")
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if body, err := io.ReadAll(res.Body); err == nil {
				t.Errorf("%q", body)
			}
		})
	}
}

// Rolling from revision to revision, with pods coming and going as a rollout does it, loses no request.
func TestRolloverUnderLoad(t *testing.T) {
	eachProtocol(t, func(t *testing.T, r *rig, c *http.Client, speak func(*feedpb.Backend)) {
		ctx, cancel := context.WithCancel(t.Context())
		var load sync.WaitGroup
		var sent atomic.Int32
		name := func(n int) string { return fmt.Sprintf("rev-%d", n) }
		start := func(n int) *feedpb.Instance {
			return instance(name(n)+"-pod", app(t, func(w http.ResponseWriter, req *http.Request) { _, _ = io.Copy(w, req.Body) }), feedpb.Instance_READY)
		}
		pods := []*feedpb.Instance{start(0)}
		r.push(backendEvent(name(0), speak), instancesEvent(name(0), pods[0]))
		r.route("roll.test", to(name(0), 100))
		for range 8 {
			load.Go(func() {
				for ctx.Err() == nil {
					if code, body := post(t, c, "http://roll.test/", "x"); code != 200 || body != "x" {
						t.Errorf("%d %s", code, body)
						return
					}
					sent.Add(1)
				}
			})
		}
		for n := 1; n < 15; n++ {
			pods = append(pods, start(n))
			r.push(backendEvent(name(n), speak), instancesEvent(name(n), pods[n]))
			r.route("roll.test", to(name(n-1), 50), to(name(n), 50))
			r.route("roll.test", to(name(n), 100))
			old := &feedpb.Instance{Name: pods[n-1].Name, Uid: pods[n-1].Uid, Address: pods[n-1].Address, State: feedpb.Instance_TERMINATING}
			r.push(instancesEvent(name(n-1), old))
			res, err := http.Get("http://" + r.drain + "/drain/default/uid-" + name(n-1))
			if err != nil || res.StatusCode != 200 {
				t.Fatalf("%v %v", res, err)
			}
			res.Body.Close()
			r.push(&feedpb.Event{Kind: &feedpb.Event_BackendRemoved{BackendRemoved: &feedpb.Ref{Namespace: "default", Name: name(n - 1)}}})
			if n%5 == 0 {
				r.cut() // the controller goes away in between
				r.route("roll.test", to(name(n), 100))
			}
		}
		cancel()
		load.Wait()
		http.DefaultClient.CloseIdleConnections()
		t.Logf("%d requests", sent.Load())
	})
}

// After a break the gateway takes over all that changed meanwhile, and what did not change goes on undisturbed.
func TestResync(t *testing.T) {
	r := newRig(t)
	c := client(t, r.external, false)
	r.serve("stays.test", func(http.ResponseWriter, *http.Request) {}, nil)
	hold, held := make(chan struct{}), make(chan struct{})
	r.serve("goes.test", func(http.ResponseWriter, *http.Request) { close(held); <-hold }, nil)
	slow := make(chan int)
	go func() {
		code, _, _ := get(t, c, "http://goes.test/")
		slow <- code
	}()
	<-held
	r.cut()
	r.mu.Lock()
	kept := r.log[:0:0]
	for _, e := range r.log {
		if !strings.Contains(e.String(), "goes.test") {
			kept = append(kept, e)
		}
	}
	r.log = kept
	r.mu.Unlock()
	r.cut()
	r.await("the removed ingress to be unserved", func() bool { _, ok := r.served["default/goes.test"]; return !ok })
	if code, _, _ := get(t, c, "http://goes.test/"); code != 404 {
		t.Errorf("%d", code)
	}
	if code, _, _ := get(t, c, "http://stays.test/"); code != 200 {
		t.Errorf("%d", code)
	}
	close(hold)
	if code := <-slow; code != 200 {
		t.Errorf("the request in hand ended with %d", code)
	}
}

// When the gateway ends, requests in hand are finished and those that wait still get their instance.
func TestGracefulEnd(t *testing.T) {
	r := newRig(t)
	c := client(t, r.external, false)
	hold, held := make(chan struct{}), make(chan struct{})
	r.serve("hand.test", func(w http.ResponseWriter, _ *http.Request) { close(held); <-hold; _, _ = io.WriteString(w, "done") }, nil)
	r.push(backendEvent("zero", nil))
	r.route("zero.test", to("zero", 100))
	results := make(chan string, 2)
	for _, host := range []string{"hand.test", "zero.test"} {
		go func() {
			code, body, _ := get(t, c, "http://"+host+"/")
			results <- fmt.Sprint(host, code, body)
		}()
	}
	<-held
	r.await("the poke", func() bool { return len(r.pokes) > 0 })
	ended := r.stop()
	r.await("the gateway to say that it ends", func() bool { return !r.ready })
	for deadline := time.Now().Add(hang); ; {
		l, err := net.Dial("tcp", r.external)
		if err != nil {
			break
		}
		if l.Close(); time.Now().After(deadline) {
			t.Fatal("it takes new connections")
		}
	}
	r.push(instancesEvent("zero", instance("pod", app(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "woken") }), feedpb.Instance_READY)))
	close(hold)
	got := map[string]bool{<-results: true, <-results: true}
	if !got["hand.test200done"] || !got["zero.test200woken"] {
		t.Errorf("%v", got)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// What the gateway reports is exact.
func TestStatistics(t *testing.T) {
	r := newRig(t)
	c := client(t, r.external, false)
	hold := make(chan struct{})
	r.serve("stats.test", func(http.ResponseWriter, *http.Request) { <-hold }, nil)
	var all sync.WaitGroup
	for range 7 {
		all.Go(func() { get(t, c, "http://stats.test/") })
	}
	r.await("full seconds of seven requests", func() bool {
		n := 0
		for _, s := range r.stats {
			if s.GetAverageConcurrency() > 6.99999 && s.GetAverageConcurrency() < 7.00001 && s.GetInFlight() == 7 && len(s.GetLoads()) == 1 {
				n++
			}
		}
		return n >= 2
	})
	close(hold)
	all.Wait()
	r.await("a quiet second", func() bool {
		n := len(r.stats)
		return r.stats[n-1].GetAverageConcurrency() == 0 && r.stats[n-1].GetInFlight() == 0
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	var requests uint64
	for _, s := range r.stats {
		requests += s.GetRequests()
	}
	if requests != 7 {
		t.Errorf("%d requests", requests)
	}
}

func TestRedirectAndHealth(t *testing.T) {
	r := newRig(t)
	r.push(backendEvent("rev", nil), &feedpb.Event{Kind: &feedpb.Event_Ingress{Ingress: &feedpb.Ingress{
		Namespace: "default", Name: "secure", Uid: "u", Generation: 9, RedirectHttps: true,
		Rules: []*feedpb.Rule{{Hosts: []string{"secure.test"}, Paths: []*feedpb.Path{{Splits: []*feedpb.Split{to("rev", 100)}}}}},
	}}})
	r.await("the ingress", func() bool { return r.served["default/secure"] == 9 })
	code, _, h := get(t, client(t, r.external, false), "http://secure.test:8080/a?b")
	if code != 301 || h.Get("Location") != "https://secure.test/a?b" {
		t.Errorf("%d %v", code, h)
	}
	if code, _, _ := get(t, client(t, r.drain, false), "http://x/healthz"); code != 200 {
		t.Errorf("%d", code)
	}
}
