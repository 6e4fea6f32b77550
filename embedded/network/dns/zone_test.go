// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package dns

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"weir.dev/embedded/network/endpoints"
	"weir.dev/embedded/network/nat"
)

func testZone() *Zone {
	ip := netip.MustParseAddr
	db := []netip.AddrPort{netip.MustParseAddrPort("10.8.0.2:5432"), netip.MustParseAddrPort("10.8.0.3:5432")}
	return NewZone("cluster.local", []endpoints.Service{
		{Namespace: "default", Name: "kubernetes", IP: ip("10.9.0.1"), Ports: []endpoints.Port{{Name: "https", Protocol: nat.TCP, Number: 443}}},
		{Namespace: "shop", Name: "cart", IP: ip("10.9.0.7"), Ports: []endpoints.Port{{Name: "http", Protocol: nat.TCP, Number: 80}, {Name: "stats", Protocol: nat.UDP, Number: 8125}}},
		{Namespace: "shop", Name: "db", Hosts: []endpoints.Host{{IP: ip("10.8.0.2"), Name: "db-0"}, {IP: ip("10.8.0.3")}}, Ports: []endpoints.Port{{Name: "sql", Protocol: nat.TCP, Number: 5432, Backends: db}}},
		{Namespace: "shop", Name: "empty"},
		{Namespace: "shop", Name: "route", External: "cart.shop.svc.cluster.local"},
		{Namespace: "shop", Name: "far", External: "example.org"},
		{Namespace: "shop", Name: "two", External: "route.shop.svc.cluster.local"},
		{Namespace: "shop", Name: "gone", External: "no.shop.svc.cluster.local"},
		{Namespace: "shop", Name: "loop", External: "loop.shop.svc.cluster.local"},
	}, netip.MustParsePrefix("10.8.0.0/16"), netip.MustParsePrefix("10.9.0.0/16"))
}

// rrs prints records without their headers' noise.
func rrs(list []dns.RR) string {
	var out []string
	for _, rr := range list {
		fields := strings.Fields(rr.String())
		out = append(out, strings.Join(append([]string{fields[0]}, fields[3:]...), " "))
	}
	return strings.Join(out, "; ")
}

func TestZoneAnswers(t *testing.T) {
	tests := map[string]struct {
		reason, name string
		kind         uint16
		rcode        int
		want, extra  string
		elsewhere    string
	}{
		"cluster IP":          {"the plain case", "cart.shop.svc.cluster.local.", dns.TypeA, 0, "cart.shop.svc.cluster.local. A 10.9.0.7", "", ""},
		"case":                {"names have no case, and come back as asked", "Cart.Shop.SVC.cluster.LOCAL.", dns.TypeA, 0, "Cart.Shop.SVC.cluster.LOCAL. A 10.9.0.7", "", ""},
		"IPv6":                {"no data is not no name: clients ask for both", "cart.shop.svc.cluster.local.", dns.TypeAAAA, 0, "", "", ""},
		"api":                 {"pods find the API", "kubernetes.default.svc.cluster.local.", dns.TypeA, 0, "kubernetes.default.svc.cluster.local. A 10.9.0.1", "", ""},
		"no service":          {"denied here", "nope.shop.svc.cluster.local.", dns.TypeA, dns.RcodeNameError, "", "", ""},
		"search path":         {"what a search path makes of other names", "example.org.shop.svc.cluster.local.", dns.TypeA, dns.RcodeNameError, "", "", ""},
		"search path 2":       {"in every step of it", "example.org.cluster.local.", dns.TypeA, dns.RcodeNameError, "", "", ""},
		"search path 3":       {"in every step of it", "example.org.svc.cluster.local.", dns.TypeA, dns.RcodeNameError, "", "", ""},
		"namespace":           {"it has names below", "shop.svc.cluster.local.", dns.TypeA, 0, "", "", ""},
		"no namespace":        {"it has none", "nope.svc.cluster.local.", dns.TypeA, dns.RcodeNameError, "", "", ""},
		"domain":              {"the apex exists", "cluster.local.", dns.TypeA, 0, "", "", ""},
		"svc":                 {"and this", "svc.cluster.local.", dns.TypeA, 0, "", "", ""},
		"headless":            {"all ready endpoints", "db.shop.svc.cluster.local.", dns.TypeA, 0, "db.shop.svc.cluster.local. A 10.8.0.2; db.shop.svc.cluster.local. A 10.8.0.3", "", ""},
		"headless without":    {"no endpoint, no name", "empty.shop.svc.cluster.local.", dns.TypeA, dns.RcodeNameError, "", "", ""},
		"headless host":       {"a StatefulSet's pod", "db-0.db.shop.svc.cluster.local.", dns.TypeA, 0, "db-0.db.shop.svc.cluster.local. A 10.8.0.2", "", ""},
		"headless unnamed":    {"others by address", "10-8-0-3.db.shop.svc.cluster.local.", dns.TypeA, 0, "10-8-0-3.db.shop.svc.cluster.local. A 10.8.0.3", "", ""},
		"headless no host":    {"and no others", "db-9.db.shop.svc.cluster.local.", dns.TypeA, dns.RcodeNameError, "", "", ""},
		"host of cluster IP":  {"only headless ones have hosts", "x.cart.shop.svc.cluster.local.", dns.TypeA, dns.RcodeNameError, "", "", ""},
		"srv":                 {"a named port", "_http._tcp.cart.shop.svc.cluster.local.", dns.TypeSRV, 0, "_http._tcp.cart.shop.svc.cluster.local. SRV 0 100 80 cart.shop.svc.cluster.local.", "cart.shop.svc.cluster.local. A 10.9.0.7", ""},
		"srv protocol":        {"of the right protocol only", "_stats._tcp.cart.shop.svc.cluster.local.", dns.TypeSRV, dns.RcodeNameError, "", "", ""},
		"srv headless":        {"one per endpoint", "_sql._tcp.db.shop.svc.cluster.local.", dns.TypeSRV, 0, "_sql._tcp.db.shop.svc.cluster.local. SRV 0 100 5432 db-0.db.shop.svc.cluster.local.; _sql._tcp.db.shop.svc.cluster.local. SRV 0 100 5432 10-8-0-3.db.shop.svc.cluster.local.", "db-0.db.shop.svc.cluster.local. A 10.8.0.2; 10-8-0-3.db.shop.svc.cluster.local. A 10.8.0.3", ""},
		"external inside":     {"with the target's address: stub resolvers look no further", "route.shop.svc.cluster.local.", dns.TypeA, 0, "route.shop.svc.cluster.local. CNAME cart.shop.svc.cluster.local.; cart.shop.svc.cluster.local. A 10.9.0.7", "", ""},
		"external twice":      {"through another", "two.shop.svc.cluster.local.", dns.TypeA, 0, "two.shop.svc.cluster.local. CNAME route.shop.svc.cluster.local.; route.shop.svc.cluster.local. CNAME cart.shop.svc.cluster.local.; cart.shop.svc.cluster.local. A 10.9.0.7", "", ""},
		"external IPv6":       {"the name exists", "route.shop.svc.cluster.local.", dns.TypeAAAA, 0, "route.shop.svc.cluster.local. CNAME cart.shop.svc.cluster.local.", "", ""},
		"external elsewhere":  {"its addresses are known elsewhere", "far.shop.svc.cluster.local.", dns.TypeA, 0, "far.shop.svc.cluster.local. CNAME example.org.", "", "example.org."},
		"external itself":     {"CNAME alone", "far.shop.svc.cluster.local.", dns.TypeCNAME, 0, "far.shop.svc.cluster.local. CNAME example.org.", "", ""},
		"external to nothing": {"denied", "gone.shop.svc.cluster.local.", dns.TypeA, dns.RcodeNameError, "gone.shop.svc.cluster.local. CNAME no.shop.svc.cluster.local.", "", ""},
		"ptr service":         {"the way back", "7.0.9.10.in-addr.arpa.", dns.TypePTR, 0, "7.0.9.10.in-addr.arpa. PTR cart.shop.svc.cluster.local.", "", ""},
		"ptr host":            {"of pods with host names", "2.0.8.10.in-addr.arpa.", dns.TypePTR, 0, "2.0.8.10.in-addr.arpa. PTR db-0.db.shop.svc.cluster.local.", "", ""},
		"ptr nobody":          {"others have none", "9.9.8.10.in-addr.arpa.", dns.TypePTR, dns.RcodeNameError, "", "", ""},
		"localhost":           {"the default domain of URLs", "hello.default.localhost.", dns.TypeA, 0, "hello.default.localhost. A 127.0.0.1", "", ""},
		"localhost IPv6":      {"both kinds", "localhost.", dns.TypeAAAA, 0, "localhost. AAAA ::1", "", ""},
		"one label":           {"nobody else knows it", "cart.", dns.TypeA, dns.RcodeNameError, "", "", ""},
	}
	z := testZone()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if !z.Owns(tc.name) {
				t.Fatalf("%s would be asked elsewhere", tc.name)
			}
			got := z.Answer(dns.Question{Name: tc.name, Qtype: tc.kind, Qclass: dns.ClassINET})
			if got.Rcode != tc.rcode || rrs(got.Answer) != tc.want || rrs(got.Extra) != tc.extra || got.Elsewhere != tc.elsewhere {
				t.Errorf("%s:\n got %s, %s | %s | %s\nwant %s, %s | %s | %s", tc.reason,
					dns.RcodeToString[got.Rcode], rrs(got.Answer), rrs(got.Extra), got.Elsewhere,
					dns.RcodeToString[tc.rcode], tc.want, tc.extra, tc.elsewhere)
			}
		})
	}
}

func TestZoneChainEnds(t *testing.T) {
	got := testZone().Answer(dns.Question{Name: "loop.shop.svc.cluster.local.", Qtype: dns.TypeA})
	if len(got.Answer) > maxChain+1 {
		t.Errorf("%d records", len(got.Answer))
	}
}

func TestZoneOwns(t *testing.T) {
	z := testZone()
	for name, want := range map[string]bool{
		"x.cluster.local.": true, "CLUSTER.local.": true, "cluster.local.example.org.": false, "mycluster.local.": false,
		"example.org.": false, "1.0.8.10.in-addr.arpa.": true, "1.0.168.192.in-addr.arpa.": false, ".": true, "localhost.example.org.": false,
		"x.localhost.": true,
	} {
		if got := z.Owns(name); got != want {
			t.Errorf("Owns(%s) = %v, want %v", name, got, want)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add("_http._tcp.cart.shop.svc.cluster.local.", dns.TypeSRV)
	f.Add("svc.cluster.local.", uint16(1))
	f.Add("...", uint16(1))
	f.Add(".cluster.local.", uint16(1)) // An empty label.
	z := testZone()
	f.Fuzz(func(t *testing.T, name string, kind uint16) {
		if z.Owns(name) {
			z.Answer(dns.Question{Name: name, Qtype: kind})
		}
	})
}
