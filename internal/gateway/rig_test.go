// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"weir.dev/internal/feed/feedpb"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hang is how long a test waits for something that should take milliseconds.
const hang = 20 * time.Second

// controller is the server side of the feed as tests need it: it sends what it is told and keeps what it hears.
type controller struct {
	feedpb.UnimplementedFeedServer
	t testing.TB

	mu        sync.Mutex
	log       []*feedpb.Event // all events so far are the snapshot
	followers map[chan []*feedpb.Event]struct{}
	served    map[string]int64
	stats     []*feedpb.RevisionStats
	pokes     []*feedpb.Poke
	ready     bool
	onPoke    func(*feedpb.Poke)
	changed   chan struct{}
}

func newController(t testing.TB) *controller {
	return &controller{t: t, followers: map[chan []*feedpb.Event]struct{}{}, served: map[string]int64{}, changed: make(chan struct{})}
}

// start serves on loopback and returns a connection to it.
func (c *controller) start() *grpc.ClientConn {
	l := listen(c.t)
	s := grpc.NewServer()
	feedpb.RegisterFeedServer(s, c)
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(l) }()
	conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { conn.Close(); s.Stop(); <-done })
	return conn
}

func (c *controller) Follow(_ *feedpb.FollowRequest, stream grpc.ServerStreamingServer[feedpb.Update]) error {
	events := make(chan []*feedpb.Event, 1000)
	c.mu.Lock()
	snapshot := append([]*feedpb.Event(nil), c.log...)
	c.followers[events] = struct{}{}
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.followers, events)
		c.mu.Unlock()
	}()
	for i, e := range snapshot { // in parts, as a controller with many objects does
		if err := stream.Send(&feedpb.Update{Events: []*feedpb.Event{e}, Complete: i == len(snapshot)-1}); err != nil {
			return err
		}
	}
	if len(snapshot) == 0 {
		if err := stream.Send(&feedpb.Update{Complete: true}); err != nil {
			return err
		}
	}
	for {
		select {
		case e, ok := <-events:
			if !ok {
				return fmt.Errorf("cut by the test")
			}
			if err := stream.Send(&feedpb.Update{Events: e, Complete: true}); err != nil {
				return err
			}
		case <-stream.Context().Done():
			return nil
		}
	}
}

func (c *controller) Report(stream grpc.BidiStreamingServer[feedpb.GatewayReport, feedpb.Directive]) error {
	for {
		r, err := stream.Recv()
		if err != nil {
			return nil
		}
		c.mu.Lock()
		c.ready = r.GetReady()
		for _, s := range r.GetServed() {
			c.served[s.GetNamespace()+"/"+s.GetName()] = s.GetGeneration()
		}
		for _, u := range r.GetUnserved() {
			delete(c.served, u.GetNamespace()+"/"+u.GetName())
		}
		c.stats = append(c.stats, r.GetStats()...)
		c.pokes = append(c.pokes, r.GetPokes()...)
		onPoke := c.onPoke
		close(c.changed)
		c.changed = make(chan struct{})
		c.mu.Unlock()
		for _, p := range r.GetPokes() {
			if onPoke != nil {
				onPoke(p)
			}
		}
	}
}

// push makes events part of the snapshot and sends them to the followers as one update.
func (c *controller) push(events ...*feedpb.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log = append(c.log, events...)
	for f := range c.followers {
		f <- events
	}
}

// cut ends all follow streams.
func (c *controller) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for f := range c.followers {
		close(f)
		delete(c.followers, f)
	}
}

// await waits until cond, called with the lock held, is true.
func (c *controller) await(what string, cond func() bool) {
	c.t.Helper()
	deadline := time.After(hang)
	for {
		c.mu.Lock()
		ok, changed := cond(), c.changed
		c.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			c.t.Fatalf("timed out waiting: %s", what)
		}
	}
}

// rig is a running gateway with a controller and clients.
type rig struct {
	*controller
	t          *testing.T
	gateway    *Gateway
	external   string
	internal   string
	drain      string
	generation int64
	cancel     func()
	done       chan error
}

// stop begins the end of the gateway; the channel has its result.
func (r *rig) stop() chan error {
	r.cancel()
	return r.done
}

func newRig(t *testing.T) *rig {
	c := newController(t)
	conn := c.start()
	external, internal, drain := listen(t), listen(t), listen(t)
	g, err := New(Config{
		ID: "gateway-1", Feeds: []grpc.ClientConnInterface{conn}, Grace: 2 * time.Second,
		External: []net.Listener{external}, Internal: []net.Listener{internal}, Drain: drain,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- g.Run(ctx); close(done) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	r := &rig{cancel: cancel, done: done, controller: c, t: t, gateway: g, external: external.Addr().String(), internal: internal.Addr().String(), drain: drain.Addr().String()}
	c.await("the gateway to be ready", func() bool { return c.ready })
	return r
}

func listen(t testing.TB) net.Listener {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// route makes host lead to backends with percents, and waits until the gateway serves that.
func (r *rig) route(host string, splits ...*feedpb.Split) {
	r.t.Helper()
	r.ingress(host, &feedpb.Rule{Hosts: []string{host}, Paths: []*feedpb.Path{{Splits: splits}}})
}

func (r *rig) ingress(name string, rules ...*feedpb.Rule) {
	r.t.Helper()
	r.generation++
	generation := r.generation
	r.push(&feedpb.Event{Kind: &feedpb.Event_Ingress{Ingress: &feedpb.Ingress{
		Namespace: "default", Name: name, Uid: "uid-" + name, Generation: generation, Claimed: 1, Rules: rules,
	}}})
	r.await("ingress "+name+" to be served", func() bool { return r.served["default/"+name] == generation })
}

func to(name string, percent uint32) *feedpb.Split {
	return &feedpb.Split{
		Backend: &feedpb.Ref{Namespace: "default", Name: name}, Percent: percent,
		AppendHeaders: map[string]string{"Knative-Serving-Revision": name, "Knative-Serving-Namespace": "default"},
	}
}

func backendEvent(name string, change func(*feedpb.Backend)) *feedpb.Event {
	b := &feedpb.Backend{Namespace: "default", Name: name, Uid: "uid-" + name, TimeoutMs: 20_000}
	if change != nil {
		change(b)
	}
	return &feedpb.Event{Kind: &feedpb.Event_Backend{Backend: b}}
}

func instancesEvent(name string, list ...*feedpb.Instance) *feedpb.Event {
	return &feedpb.Event{Kind: &feedpb.Event_Instances{Instances: &feedpb.Instances{
		Backend: &feedpb.Ref{Namespace: "default", Name: name}, Instances: list,
	}}}
}

func instance(name, address string, state feedpb.Instance_State) *feedpb.Instance {
	return &feedpb.Instance{Name: name, Uid: "uid-" + name, Address: address, State: state}
}

// serve starts an app, and makes host lead to it as the only instance of a revision named like the host.
func (r *rig) serve(host string, h http.HandlerFunc, change func(*feedpb.Backend)) {
	r.t.Helper()
	address := app(r.t, h)
	r.push(backendEvent(host, change), instancesEvent(host, instance(host+"-pod", address, feedpb.Instance_READY)))
	r.route(host, to(host, 100))
}

// app starts a program that speaks HTTP/1.1 and HTTP/2 with prior knowledge.
func app(t testing.TB, h http.HandlerFunc) string {
	s := httptest.NewUnstartedServer(h)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// client speaks one protocol to one address, whatever the host of the URL.
func client(t testing.TB, address string, h2 bool) *http.Client {
	p := new(http.Protocols)
	p.SetHTTP1(!h2)
	p.SetUnencryptedHTTP2(h2)
	tr := &http.Transport{Protocols: p, DisableCompression: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", address)
	}, MaxIdleConnsPerHost: 100}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: hang, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// eachProtocol runs a test with every pair of protocols of client and program.
func eachProtocol(t *testing.T, f func(t *testing.T, r *rig, c *http.Client, speak func(*feedpb.Backend))) {
	for _, front := range []bool{false, true} {
		for _, back := range []bool{false, true} {
			name := map[bool]string{false: "HTTP1", true: "H2C"}
			t.Run(name[front]+"-"+name[back], func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				f(t, r, client(t, r.external, front), func(b *feedpb.Backend) {
					if back {
						b.Protocol = feedpb.Backend_H2C
					}
				})
			})
		}
	}
}

func get(t testing.TB, c *http.Client, url string) (int, string, http.Header) {
	t.Helper()
	res, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body), res.Header
}

func post(t testing.TB, c *http.Client, url, body string) (int, string) {
	t.Helper()
	res, err := c.Post(url, "text/plain", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	out, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(out)
}
