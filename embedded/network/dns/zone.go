// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package dns answers what pods ask: Services from a zone of its own, other names
// by the machine's resolvers. Names of the cluster domain are never asked outside.
//
// The names are those of the Kubernetes DNS specification 1.1.0.
package dns

import (
	"net/netip"
	"strings"

	"github.com/miekg/dns"

	"weir.dev/embedded/network/endpoints"
	"weir.dev/embedded/network/nat"
)

const (
	// ttl is short: endpoints come and go.
	ttl = 5
	// maxChain bounds ExternalNames that point to ExternalNames.
	maxChain = 8
)

// Zone is an immutable view of all Services. It is pure: no clock, no network.
type Zone struct {
	domain string // With the final dot.
	ranges []netip.Prefix
	// services by "name.namespace"; namespaces that have one.
	services   map[string]endpoints.Service
	namespaces map[string]bool
	reverse    map[netip.Addr][]string
}

// NewZone makes the zone of a cluster domain. Addresses of ranges have names here
// or nowhere.
func NewZone(domain string, services []endpoints.Service, ranges ...netip.Prefix) *Zone {
	z := &Zone{
		domain: strings.ToLower(dns.Fqdn(domain)), ranges: ranges,
		services: map[string]endpoints.Service{}, namespaces: map[string]bool{}, reverse: map[netip.Addr][]string{},
	}
	for _, s := range services {
		z.services[s.Name+"."+s.Namespace] = s
		z.namespaces[s.Namespace] = true
		full := s.Name + "." + s.Namespace + ".svc." + z.domain
		if s.IP.IsValid() {
			z.reverse[s.IP] = append(z.reverse[s.IP], full)
		}
		if !s.Headless() {
			continue
		}
		for _, h := range s.Hosts {
			if h.Name != "" {
				z.reverse[h.IP] = append(z.reverse[h.IP], strings.ToLower(h.Name)+"."+full)
			}
		}
	}
	return z
}

// Reply is an answer, or the part of one that is known here.
type Reply struct {
	Rcode  int
	Answer []dns.RR
	Extra  []dns.RR
	// Elsewhere is the name outside of the cluster that the answer leads to, if
	// addresses of it were asked for.
	Elsewhere string
}

// Owns reports whether a name is answered here alone, with what there is or with
// a denial.
func (z *Zone) Owns(name string) bool {
	name = strings.ToLower(dns.Fqdn(name))
	if name == z.domain || strings.HasSuffix(name, "."+z.domain) {
		return true
	}
	// RFC 6761, 6.3: localhost is no matter of DNS servers elsewhere. Names of one
	// label are of nobody elsewhere either.
	if name == "localhost." || strings.HasSuffix(name, ".localhost.") || dns.CountLabel(name) < 2 {
		return true
	}
	ip, ok := reverseAddr(name)
	if !ok {
		return false
	}
	for _, r := range z.ranges {
		if r.Contains(ip) {
			return true
		}
	}
	return false
}

// Answer answers a question about a name that the zone owns.
func (z *Zone) Answer(q dns.Question) Reply {
	name := strings.ToLower(q.Name)
	if ip, ok := reverseAddr(name); ok {
		return z.pointers(q, ip)
	}
	if name == "localhost." || strings.HasSuffix(name, ".localhost.") {
		return localhost(q)
	}
	rest, ok := strings.CutSuffix(name, "."+z.domain)
	if !ok {
		return z.apex(name)
	}
	labels := dns.SplitDomainName(rest)
	if len(labels) == 0 || labels[len(labels)-1] != "svc" {
		return Reply{Rcode: dns.RcodeNameError}
	}
	return z.service(q, labels[:len(labels)-1], 0)
}

func (z *Zone) apex(name string) Reply {
	if name == z.domain {
		return Reply{}
	}
	return Reply{Rcode: dns.RcodeNameError}
}

// service answers for the labels before "svc": [host or _port, _proto] service
// namespace.
func (z *Zone) service(q dns.Question, labels []string, depth int) Reply {
	n := len(labels)
	if n < 2 {
		if n == 0 || z.namespaces[labels[0]] {
			return Reply{} // A name with names below it.
		}
		return Reply{Rcode: dns.RcodeNameError}
	}
	s, ok := z.services[labels[n-2]+"."+labels[n-1]]
	if !ok {
		return Reply{Rcode: dns.RcodeNameError}
	}
	switch {
	case s.External != "" && n == 2:
		return z.external(q, s, depth)
	case n == 2:
		return z.addresses(q, s)
	case n == 4 && strings.HasPrefix(labels[0], "_") && strings.HasPrefix(labels[1], "_"):
		return z.ports(q, s, labels[0][1:], labels[1][1:])
	case n == 3 && s.Headless():
		return hostAddress(q, s, labels[0])
	}
	return Reply{Rcode: dns.RcodeNameError}
}

// addresses answers with the ClusterIP or the endpoints.
func (z *Zone) addresses(q dns.Question, s endpoints.Service) Reply {
	var r Reply
	if s.IP.IsValid() {
		r.Answer = a(q, q.Name, s.IP)
		if q.Qtype == dns.TypeSRV {
			for _, p := range s.Ports {
				r.Answer = append(r.Answer, srv(q.Name, p.Number, z.fullName(s)))
			}
			r.Extra = a(asA(q), z.fullName(s), s.IP)
		}
		return r
	}
	seen := map[netip.Addr]bool{}
	for _, h := range s.Hosts {
		if !seen[h.IP] {
			seen[h.IP] = true
			r.Answer = append(r.Answer, a(q, q.Name, h.IP)...)
		}
	}
	if len(s.Hosts) == 0 {
		r.Rcode = dns.RcodeNameError // As the specification says of no ready endpoints.
	}
	return r
}

// external follows an ExternalName as far as it stays in the cluster.
func (z *Zone) external(q dns.Question, s endpoints.Service, depth int) Reply {
	target := dns.Fqdn(s.External)
	r := Reply{Answer: []dns.RR{&dns.CNAME{Hdr: header(q.Name, dns.TypeCNAME), Target: target}}}
	if q.Qtype == dns.TypeCNAME || depth >= maxChain {
		return r
	}
	if !z.Owns(target) {
		if q.Qtype == dns.TypeA || q.Qtype == dns.TypeAAAA {
			r.Elsewhere = target
		}
		return r
	}
	next := q
	next.Name = target
	var further Reply
	if rest, ok := strings.CutSuffix(strings.ToLower(target), ".svc."+z.domain); ok {
		further = z.service(next, dns.SplitDomainName(rest), depth+1)
	} else {
		further = z.Answer(next)
	}
	r.Answer = append(r.Answer, further.Answer...)
	r.Rcode, r.Elsewhere = further.Rcode, further.Elsewhere
	return r
}

// ports answers _port._protocol with the port's number and where it is.
func (z *Zone) ports(q dns.Question, s endpoints.Service, port, proto string) Reply {
	r := Reply{Rcode: dns.RcodeNameError}
	for _, p := range s.Ports {
		if p.Name != port || protocolName(p.Protocol) != proto {
			continue
		}
		r.Rcode = dns.RcodeSuccess
		if q.Qtype != dns.TypeSRV {
			continue
		}
		if s.IP.IsValid() {
			r.Answer = append(r.Answer, srv(q.Name, p.Number, z.fullName(s)))
			r.Extra = append(r.Extra, a(asA(q), z.fullName(s), s.IP)...)
			continue
		}
		for _, b := range p.Backends {
			host := hostName(s, b.Addr()) + "." + z.fullName(s)
			r.Answer = append(r.Answer, srv(q.Name, b.Port(), host))
			r.Extra = append(r.Extra, a(asA(q), host, b.Addr())...)
		}
	}
	return r
}

func (z *Zone) fullName(s endpoints.Service) string {
	return s.Name + "." + s.Namespace + ".svc." + z.domain
}

// hostAddress answers for one endpoint of a headless Service, by its host name or
// by its address with dashes.
func hostAddress(q dns.Question, s endpoints.Service, host string) Reply {
	r := Reply{Rcode: dns.RcodeNameError}
	for _, h := range s.Hosts {
		if hostName(s, h.IP) == host || strings.EqualFold(h.Name, host) {
			r.Rcode = dns.RcodeSuccess
			r.Answer = append(r.Answer, a(q, q.Name, h.IP)...)
		}
	}
	return r
}

func hostName(s endpoints.Service, ip netip.Addr) string {
	for _, h := range s.Hosts {
		if h.IP == ip && h.Name != "" {
			return strings.ToLower(h.Name)
		}
	}
	return strings.ReplaceAll(ip.String(), ".", "-")
}

func (z *Zone) pointers(q dns.Question, ip netip.Addr) Reply {
	names := z.reverse[ip]
	if len(names) == 0 {
		return Reply{Rcode: dns.RcodeNameError}
	}
	var r Reply
	if q.Qtype == dns.TypePTR || q.Qtype == dns.TypeANY {
		for _, n := range names {
			r.Answer = append(r.Answer, &dns.PTR{Hdr: header(q.Name, dns.TypePTR), Ptr: n})
		}
	}
	return r
}

// SOA stands in denials and says how long to remember them.
func (z *Zone) SOA() dns.RR {
	return &dns.SOA{
		Hdr: header(z.domain, dns.TypeSOA), Ns: "ns.dns." + z.domain, Mbox: "hostmaster." + z.domain,
		Serial: 1, Refresh: 7200, Retry: 1800, Expire: 86400, Minttl: ttl,
	}
}

func localhost(q dns.Question) Reply {
	switch q.Qtype {
	case dns.TypeA, dns.TypeANY:
		return Reply{Answer: a(q, q.Name, netip.AddrFrom4([4]byte{127, 0, 0, 1}))}
	case dns.TypeAAAA:
		return Reply{Answer: []dns.RR{&dns.AAAA{Hdr: header(q.Name, dns.TypeAAAA), AAAA: netip.IPv6Loopback().AsSlice()}}}
	}
	return Reply{}
}

// a is an address record if one was asked for.
func a(q dns.Question, name string, ip netip.Addr) []dns.RR {
	if q.Qtype != dns.TypeA && q.Qtype != dns.TypeANY {
		return nil
	}
	return []dns.RR{&dns.A{Hdr: header(name, dns.TypeA), A: ip.AsSlice()}}
}

func asA(q dns.Question) dns.Question {
	q.Qtype = dns.TypeA
	return q
}

func srv(name string, port uint16, target string) dns.RR {
	return &dns.SRV{Hdr: header(name, dns.TypeSRV), Priority: 0, Weight: 100, Port: port, Target: target}
}

func header(name string, kind uint16) dns.RR_Header {
	return dns.RR_Header{Name: name, Rrtype: kind, Class: dns.ClassINET, Ttl: ttl}
}

func protocolName(p uint8) string {
	return map[uint8]string{nat.TCP: "tcp", nat.UDP: "udp", nat.SCTP: "sctp"}[p]
}

// reverseAddr reads "4.3.2.1.in-addr.arpa.".
func reverseAddr(name string) (netip.Addr, bool) {
	rest, ok := strings.CutSuffix(strings.ToLower(name), ".in-addr.arpa.")
	if !ok {
		return netip.Addr{}, false
	}
	parts := strings.Split(rest, ".")
	if len(parts) != 4 {
		return netip.Addr{}, false
	}
	ip, err := netip.ParseAddr(parts[3] + "." + parts[2] + "." + parts[1] + "." + parts[0])
	return ip, err == nil
}
