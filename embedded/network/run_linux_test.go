// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	mdns "github.com/miekg/dns"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"

	"weir.dev/embedded/network/ranges"
)

// start runs the network until the test ends.
func start(t testing.TB, n *Network, client kubernetes.Interface, opts RunOptions) {
	t.Helper()
	if opts.Resolvers == nil {
		opts.Resolvers = []string{} // No test asks the machine's resolvers.
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx, client, opts) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(hang):
			t.Error("Run does not end")
		}
	})
}

// publish makes a Service with a ClusterIP and its endpoints.
func publish(t testing.TB, client kubernetes.Interface, name string, ip netip.Addr, proto corev1.Protocol, port uint16, ends ...netip.AddrPort) {
	t.Helper()
	svc := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       corev1.ServiceSpec{ClusterIP: ip.String(), Ports: []corev1.ServicePort{{Port: int32(port), Protocol: proto}}},
	}
	if _, err := client.CoreV1().Services("default").Create(t.Context(), svc, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for i, end := range ends {
		if _, err := client.DiscoveryV1().EndpointSlices("default").Create(t.Context(), endpointSlice(name, i, proto, end), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

func endpointSlice(service string, i int, proto corev1.Protocol, end netip.AddrPort) *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("%s-%d", service, i), Labels: map[string]string{discoveryv1.LabelServiceName: service}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: new(""), Port: new(int32(end.Port())), Protocol: new(proto)}},
		Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{end.Addr().String()}}},
	}
}

func withdraw(t testing.TB, client kubernetes.Interface, slice string) {
	t.Helper()
	if err := client.DiscoveryV1().EndpointSlices("default").Delete(t.Context(), slice, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// eventually waits until check succeeds.
func eventually(t testing.TB, check func() error) {
	t.Helper()
	deadline := time.Now().Add(hang)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		<-time.After(5 * time.Millisecond)
	}
}

func service(n *Network, i uint32) netip.Addr { return ranges.Nth(n.ServiceCIDR(), 100+i) }

func TestClusterIP(t *testing.T) {
	n, client := newNetwork(t), fake.NewClientset()
	a, b, c := attach(t, n, "a"), attach(t, n, "b"), attach(t, n, "c")
	ends := []netip.AddrPort{netip.AddrPortFrom(b.IP, serve(t, b, "b")), netip.AddrPortFrom(c.IP, serve(t, c, "c"))}
	publish(t, client, "web", service(n, 0), corev1.ProtocolTCP, 80, ends...)
	start(t, n, client, RunOptions{})
	web := netip.AddrPortFrom(service(n, 0), 80)
	eventually(t, func() error { return second(callFrom(t, a, web)) })

	heard := map[string]int{}
	for range 60 {
		said, err := callFrom(t, a, web)
		if err != nil {
			t.Fatal(err)
		}
		heard[said]++
	}
	if heard["b to "+a.IP.String()] < 10 || heard["c to "+a.IP.String()] < 10 || len(heard) != 2 {
		t.Errorf("60 calls of a pod reached %v; want both endpoints, about equally, with the pod's own address", heard)
	}
	if said, err := call(web); err != nil || !strings.HasSuffix(said, n.BridgeIP().String()) {
		t.Errorf("the machine calls the Service: %q, %v", said, err)
	}

	// A pod reaches itself as anybody else.
	withdraw(t, client, "web-1")
	eventually(t, func() error {
		for range 20 {
			if said, err := callFrom(t, b, web); err != nil || said != "b to "+n.BridgeIP().String() {
				return fmt.Errorf("b calls itself through the Service: %q, %w", said, err)
			}
		}
		return nil
	})
}

func TestStickyService(t *testing.T) {
	n, client := newNetwork(t), fake.NewClientset()
	a, b, c := attach(t, n, "a"), attach(t, n, "b"), attach(t, n, "c")
	for i, end := range []netip.AddrPort{netip.AddrPortFrom(b.IP, serve(t, b, "b")), netip.AddrPortFrom(c.IP, serve(t, c, "c"))} {
		if _, err := client.DiscoveryV1().EndpointSlices("default").Create(t.Context(), endpointSlice("web", i, corev1.ProtocolTCP, end), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	svc := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: corev1.ServiceSpec{
			ClusterIP: service(n, 0).String(), SessionAffinity: corev1.ServiceAffinityClientIP,
			Ports: []corev1.ServicePort{{Port: 80}},
		},
	}
	if _, err := client.CoreV1().Services("default").Create(t.Context(), svc, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	start(t, n, client, RunOptions{})
	web := netip.AddrPortFrom(service(n, 0), 80)
	eventually(t, func() error { return second(callFrom(t, a, web)) })
	heard := map[string]bool{}
	for range 20 {
		heard[first(callFrom(t, a, web))] = true
	}
	if len(heard) != 1 {
		t.Errorf("20 calls of one client reached %v", heard)
	}
}

func TestServiceWithoutEndpointsIsRefusedAtOnce(t *testing.T) {
	n, client := newNetwork(t), fake.NewClientset()
	a := attach(t, n, "a")
	publish(t, client, "empty", service(n, 0), corev1.ProtocolTCP, 80)
	start(t, n, client, RunOptions{})
	begin := time.Now()
	for name, ip := range map[string]netip.Addr{"without endpoints": service(n, 0), "unknown": service(n, 1)} {
		to := netip.AddrPortFrom(ip, 80)
		for who, err := range map[string]error{"machine": second(call(to)), "pod": second(callFrom(t, a, to))} {
			if !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("the %s calls a Service %s: %v; want it refused", who, name, err)
			}
		}
		in(t, a, func() error {
			conn, err := net.Dial("udp4", to.String())
			if err != nil {
				return err
			}
			defer func() { _ = conn.Close() }()
			_, err = conn.Write([]byte("?"))
			_ = conn.SetDeadline(time.Now().Add(hang))
			if err == nil {
				_, err = conn.Read(make([]byte, 1))
			}
			if !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("by UDP a Service %s: %v; want it refused", name, err)
			}
			return nil
		})
	}
	if took := time.Since(begin); took > hang/2 {
		t.Errorf("it took %v", took)
	}
}

// udpEcho answers datagrams in a pod with a name.
func udpEcho(t *testing.T, at Attachment, name string) netip.AddrPort {
	t.Helper()
	var conn net.PacketConn
	in(t, at, func() (err error) {
		conn, err = net.ListenPacket("udp4", ":0")
		return err
	})
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		buf := make([]byte, 100)
		for {
			_, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			_, _ = conn.WriteTo([]byte(name), from)
		}
	}()
	return netip.AddrPortFrom(at.IP, conn.LocalAddr().(*net.UDPAddr).AddrPort().Port())
}

func TestUDPFlowLeavesGoneEndpoint(t *testing.T) {
	n, client := newNetwork(t), fake.NewClientset()
	a, b, c := attach(t, n, "a"), attach(t, n, "b"), attach(t, n, "c")
	publish(t, client, "udp", service(n, 0), corev1.ProtocolUDP, 99, udpEcho(t, b, "b"))
	start(t, n, client, RunOptions{})
	var conn net.Conn
	in(t, a, func() (err error) {
		conn, err = net.Dial("udp4", netip.AddrPortFrom(service(n, 0), 99).String())
		return err
	})
	defer func() { _ = conn.Close() }()
	ask := func() (string, error) {
		buf := make([]byte, 100)
		_ = conn.SetDeadline(time.Now().Add(100 * time.Millisecond))
		_, err := conn.Write([]byte("?"))
		if err != nil {
			return "", err
		}
		size, err := conn.Read(buf)
		return string(buf[:size]), err
	}
	eventually(t, func() error { return second(ask()) })
	if _, err := client.DiscoveryV1().EndpointSlices("default").Create(t.Context(), endpointSlice("udp", 1, corev1.ProtocolUDP, udpEcho(t, c, "c")), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	withdraw(t, client, "udp-0")
	if err := n.Detach(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error { // The same socket, never silent long enough to be forgotten.
		if said, err := ask(); said != "c" {
			return fmt.Errorf("the flow goes to %q, %w", said, err)
		}
		return nil
	})
}

func TestDNSInPods(t *testing.T) {
	n, client := newNetwork(t), fake.NewClientset()
	a := attach(t, n, "a")
	publish(t, client, "web", service(n, 0), corev1.ProtocolTCP, 80)
	publish(t, client, "kubernetes", n.APIIP(), corev1.ProtocolTCP, 443)
	upstream := upstreamDNS(t)
	start(t, n, client, RunOptions{Resolvers: []string{upstream.addr}})
	for _, network := range []string{"udp", "tcp"} {
		ask := func(name string) (reply *mdns.Msg) {
			eventually(t, func() (err error) {
				in(t, a, func() error {
					reply, _, err = (&mdns.Client{Net: network}).Exchange(new(mdns.Msg).SetQuestion(name, mdns.TypeA), n.DNSIP().String()+":53")
					return nil
				})
				if err == nil && reply.Rcode == mdns.RcodeServerFailure {
					err = errors.New("no zone yet")
				}
				return err
			})
			return reply
		}
		if got := ask("web.default.svc.cluster.local."); len(got.Answer) != 1 || got.Answer[0].(*mdns.A).A.String() != service(n, 0).String() {
			t.Errorf("%s: web is %v", network, got.Answer)
		}
		if got := ask("kubernetes.default.svc.cluster.local."); len(got.Answer) != 1 {
			t.Errorf("%s: the API is %v", network, got.Answer)
		}
		if got := ask("no.default.svc.cluster.local."); got.Rcode != mdns.RcodeNameError {
			t.Errorf("%s: a missing Service gives %s", network, mdns.RcodeToString[got.Rcode])
		}
		if got := ask("example.org."); len(got.Answer) != 1 || got.Answer[0].(*mdns.A).A.String() != "192.0.2.7" {
			t.Errorf("%s: a foreign name gives %v", network, got.Answer)
		}
	}
	upstream.mu.Lock()
	defer upstream.mu.Unlock()
	for _, name := range upstream.asked {
		if name != "example.org." {
			t.Errorf("the machine's resolver was asked for %s", name)
		}
	}
}

type fakeDNS struct {
	addr  string
	mu    sync.Mutex
	asked []string
}

// upstreamDNS stands for the machine's resolver.
func upstreamDNS(t *testing.T) *fakeDNS {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &fakeDNS{addr: conn.LocalAddr().String()}
	ln, err := net.Listen("tcp4", f.addr)
	if err != nil {
		t.Fatal(err)
	}
	handler := mdns.HandlerFunc(func(w mdns.ResponseWriter, m *mdns.Msg) {
		f.mu.Lock()
		f.asked = append(f.asked, m.Question[0].Name)
		f.mu.Unlock()
		reply := new(mdns.Msg).SetReply(m)
		reply.Answer = []mdns.RR{&mdns.A{Hdr: mdns.RR_Header{Name: m.Question[0].Name, Rrtype: mdns.TypeA, Class: mdns.ClassINET}, A: net.IPv4(192, 0, 2, 7)}}
		_ = w.WriteMsg(reply)
	})
	for _, srv := range []*mdns.Server{{PacketConn: conn, Handler: handler}, {Listener: ln, Handler: handler}} {
		started := make(chan struct{})
		srv.NotifyStartedFunc = func() { close(started) }
		go func() { _ = srv.ActivateAndServe() }()
		<-started
		t.Cleanup(func() { _ = srv.Shutdown() })
	}
	return f
}

func TestAPIServerThroughItsService(t *testing.T) {
	n, client := newNetwork(t), fake.NewClientset()
	a := attach(t, n, "a")
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := answer(t, ln, "api")
	publish(t, client, "kubernetes", n.APIIP(), corev1.ProtocolTCP, 443, netip.AddrPortFrom(n.BridgeIP(), port))
	start(t, n, client, RunOptions{APIServer: ln.Addr().String()})
	to := netip.AddrPortFrom(n.APIIP(), 443)
	eventually(t, func() error { return second(callFrom(t, a, to)) })
	for who, said := range map[string]string{"pod": first(callFrom(t, a, to)), "machine": first(call(to))} {
		if said != "api to 127.0.0.1" {
			t.Errorf("the %s hears %q", who, said)
		}
	}
}

func first(said string, _ error) string { return said }

func TestRulesComeBack(t *testing.T) {
	n, client := newNetwork(t), fake.NewClientset()
	b := attach(t, n, "b")
	publish(t, client, "web", service(n, 0), corev1.ProtocolTCP, 80, netip.AddrPortFrom(b.IP, serve(t, b, "b")))
	start(t, n, client, RunOptions{})
	web := netip.AddrPortFrom(service(n, 0), 80)
	eventually(t, func() error { return second(call(web)) })
	c := &nftables.Conn{} // As a reload of the firewall does.
	c.DelTable(&nftables.Table{Name: n.table(), Family: nftables.TableFamilyIPv4})
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	publish(t, client, "other", service(n, 1), corev1.ProtocolTCP, 80) // Any change, not to wait.
	eventually(t, func() error { return second(call(web)) })
}

func TestTranslationOutlivesTheProcess(t *testing.T) {
	n, client := newNetwork(t), fake.NewClientset()
	b := attach(t, n, "b")
	publish(t, client, "web", service(n, 0), corev1.ProtocolTCP, 80, netip.AddrPortFrom(b.IP, serve(t, b, "b")))
	web := netip.AddrPortFrom(service(n, 0), 80)
	t.Run("first", func(t *testing.T) {
		start(t, n, client, RunOptions{})
		eventually(t, func() error { return second(call(web)) })
	})
	again, err := New(Config{DataDir: n.dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := call(web); err != nil {
		t.Errorf("after a restart, before Services are read: %v", err)
	}
	withdraw(t, client, "web-0")
	start(t, again, client, RunOptions{})
	eventually(t, func() error {
		if _, err := call(web); !errors.Is(err, syscall.ECONNREFUSED) {
			return fmt.Errorf("what the first process translated is still there: %w", err)
		}
		return nil
	})
}

// TestNothingLeaves looks at the rule that would drop a leak, and makes one.
func TestNothingLeaves(t *testing.T) {
	n := newNetwork(t)
	a := attach(t, n, "a")
	for range 3 {
		_, _ = callFrom(t, a, netip.AddrPortFrom(service(n, 9), 80))
		_, _ = call(netip.AddrPortFrom(service(n, 9), 80))
	}
	if got := leaks(t, n); got != 0 {
		t.Errorf("%d packets would have left", got)
	}
}

// leaks counts the packets that the last chain dropped.
func leaks(t *testing.T, n *Network) (packets uint64) {
	t.Helper()
	table := &nftables.Table{Name: n.table(), Family: nftables.TableFamilyIPv4}
	rules, err := (&nftables.Conn{}).GetRules(table, &nftables.Chain{Name: "leaks", Table: table})
	if err != nil || len(rules) == 0 {
		t.Fatalf("%d rules, %v", len(rules), err)
	}
	for _, r := range rules {
		for _, e := range r.Exprs {
			if counter, ok := e.(*expr.Counter); ok {
				packets += counter.Packets
			}
		}
	}
	return packets
}

func TestClosedNetworkHasStateForTheNext(t *testing.T) {
	n := newNetwork(t)
	plan := n.state.Plan
	attach(t, n, "a")
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	if left := leftovers(t, n.dir); len(left) != 0 {
		t.Errorf("left after Close: %v", left)
	}
	again, err := New(Config{DataDir: n.dir})
	if err != nil {
		t.Fatal(err)
	}
	if again.state.Plan != plan {
		t.Errorf("ranges %v, before %v", again.state.Plan, plan)
	}
	if got, err := again.Sandboxes(); err != nil || len(got) != 0 {
		t.Errorf("Sandboxes() = %v, %v", got, err)
	}
	if _, err := os.Stat(n.file("netns", "a")); !errors.Is(err, os.ErrNotExist) {
		t.Error("a pin is left")
	}
}
