// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package dns

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/miekg/dns"
	"go.uber.org/goleak"

	"weir.dev/embedded/network/endpoints"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeForwarder answers every name with one address and remembers it.
type fakeForwarder struct {
	asked []string
	err   error
}

func (f *fakeForwarder) Forward(_ context.Context, m *dns.Msg, _ bool) (*dns.Msg, error) {
	f.asked = append(f.asked, m.Question[0].Name)
	if f.err != nil {
		return nil, f.err
	}
	reply := new(dns.Msg).SetReply(m)
	reply.Id = 4711
	reply.Answer = []dns.RR{&dns.A{Hdr: header(m.Question[0].Name, dns.TypeA), A: net.IPv4(192, 0, 2, 7)}}
	return reply, nil
}

func query(name string, kind uint16) *dns.Msg { return new(dns.Msg).SetQuestion(name, kind) }

func TestReply(t *testing.T) {
	other := query("example.org.", dns.TypeA)
	other.Question[0].Qclass = dns.ClassCHAOS
	notify := query("example.org.", dns.TypeA)
	notify.Opcode = dns.OpcodeNotify
	tests := map[string]struct {
		reason string
		m      *dns.Msg
		rcode  int
		answer string
		asked  string
	}{
		"own":       {"known here", query("cart.shop.svc.cluster.local.", dns.TypeA), 0, "cart.shop.svc.cluster.local. A 10.9.0.7", ""},
		"denied":    {"never asked elsewhere", query("no.shop.svc.cluster.local.", dns.TypeA), dns.RcodeNameError, "", ""},
		"foreign":   {"asked elsewhere", query("example.org.", dns.TypeA), 0, "example.org. A 192.0.2.7", "example.org."},
		"external":  {"both together", query("far.shop.svc.cluster.local.", dns.TypeA), 0, "far.shop.svc.cluster.local. CNAME example.org.; example.org. A 192.0.2.7", "example.org."},
		"class":     {"the Internet's alone", other, dns.RcodeRefused, "", ""},
		"opcode":    {"queries alone", notify, dns.RcodeNotImplemented, "", ""},
		"questions": {"one at a time", &dns.Msg{}, dns.RcodeFormatError, "", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := &fakeForwarder{}
			s := New(Config{Forwarder: f})
			s.Serve(testZone())
			got := s.Reply(t.Context(), tc.m, false)
			if got.Rcode != tc.rcode || rrs(got.Answer) != tc.answer || strings.Join(f.asked, " ") != tc.asked || got.Id != tc.m.Id {
				t.Errorf("%s: %s, %q, asked %v", tc.reason, dns.RcodeToString[got.Rcode], rrs(got.Answer), f.asked)
			}
			if tc.rcode == dns.RcodeNameError && len(got.Ns) != 1 {
				t.Errorf("a denial without SOA cannot be remembered")
			}
		})
	}
}

func TestReplyFailures(t *testing.T) {
	s := New(Config{Forwarder: &fakeForwarder{err: errors.New("no")}})
	for name, want := range map[string]int{"cart.shop.svc.cluster.local.": dns.RcodeServerFailure, "example.org.": dns.RcodeServerFailure} {
		if got := s.Reply(t.Context(), query(name, dns.TypeA), false); got.Rcode != want {
			t.Errorf("before there is a zone %s gets %s", name, dns.RcodeToString[got.Rcode])
		}
	}
	s.Serve(testZone())
	if got := s.Reply(t.Context(), query("example.org.", dns.TypeA), false); got.Rcode != dns.RcodeServerFailure {
		t.Errorf("failing resolvers give %s", dns.RcodeToString[got.Rcode])
	}
	for range forwarding {
		s.slots <- struct{}{}
	}
	if got := s.Reply(t.Context(), query("example.org.", dns.TypeA), false); got.Rcode != dns.RcodeServerFailure {
		t.Errorf("over the bound: %s", dns.RcodeToString[got.Rcode])
	}
	if got := New(Config{}); got.Reply(t.Context(), query("x.y.", dns.TypeA), false).Rcode != dns.RcodeServerFailure {
		t.Error("without a zone and a forwarder")
	}
}

// serveOn runs a server on loopback; stop returns what Run did.
func serveOn(t *testing.T, f Forwarder, z *Zone) (addr string, stop func() error) {
	t.Helper()
	udp, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	tcp, err := net.Listen("tcp4", udp.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	s := New(Config{UDP: udp, TCP: tcp, Forwarder: f})
	s.Serve(z)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	return udp.LocalAddr().String(), func() error {
		cancel()
		return <-done
	}
}

func TestServerOverUDPAndTCP(t *testing.T) {
	var hosts []endpoints.Host
	for i := range 200 {
		hosts = append(hosts, endpoints.Host{IP: netip.MustParseAddr(fmt.Sprintf("10.8.1.%d", i))})
	}
	many := NewZone("cluster.local", []endpoints.Service{{Namespace: "shop", Name: "many", Hosts: hosts}})
	addr, stop := serveOn(t, nil, many)
	q := query("many.shop.svc.cluster.local.", dns.TypeA)
	reply, _, err := (&dns.Client{Net: "udp"}).Exchange(q, addr)
	if err != nil {
		t.Fatal(err)
	}
	if reply.Compress = true; !reply.Truncated || reply.Len() > dns.MinMsgSize {
		t.Errorf("by UDP: truncated %v, %d bytes", reply.Truncated, reply.Len())
	}
	reply, _, err = (&dns.Client{Net: "tcp"}).Exchange(q, addr)
	if err != nil || len(reply.Answer) != 200 {
		t.Errorf("by TCP: %d addresses, %v", len(reply.Answer), err)
	}
	q.SetEdns0(4096, false)
	reply, _, err = (&dns.Client{Net: "udp", UDPSize: 4096}).Exchange(q, addr)
	if err != nil || reply.Truncated || len(reply.Answer) != 200 || reply.IsEdns0() == nil {
		t.Errorf("by UDP with EDNS: %d addresses, %v", len(reply.Answer), err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestServerEndsWhenASocketFails(t *testing.T) {
	udp, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	tcp, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := tcp.Close(); err != nil {
		t.Fatal(err)
	}
	if err := New(Config{UDP: udp, TCP: tcp}).Run(t.Context()); err == nil {
		t.Error("no error")
	}
}

func TestUpstreamAsksOneAfterTheOther(t *testing.T) {
	f := &fakeForwarder{}
	good, stop := serveOn(t, f, NewZone("cluster.local", nil))
	defer func() { _ = stop() }()
	dead, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = dead.Close()
	reply, err := Fixed(dead.LocalAddr().String(), good).Forward(t.Context(), query("example.org.", dns.TypeA), false)
	if err != nil || rrs(reply.Answer) != "example.org. A 192.0.2.7" {
		t.Errorf("%v, %v", reply, err)
	}
	if _, err := Fixed(dead.LocalAddr().String()).Forward(t.Context(), query("example.org.", dns.TypeA), false); err == nil {
		t.Error("a dead resolver answered")
	}
}

func TestUpstreamFromFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "resolv.conf")
	if err := os.WriteFile(file, []byte("search example.org\nnameserver 127.0.0.9\nnameserver ::1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := NewUpstream(file).list()
	if err != nil || strings.Join(got, " ") != "127.0.0.9:53 [::1]:53" {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := NewUpstream(file + ".no").list(); err == nil {
		t.Error("a missing file is no error")
	}
}
