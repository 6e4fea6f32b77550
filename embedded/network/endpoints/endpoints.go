// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package endpoints brings Services and EndpointSlices together, for address
// translation and DNS. It is pure. Only IPv4 counts.
package endpoints

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"weir.dev/embedded/network/nat"
)

// Service is a Service with what is behind it.
type Service struct {
	Namespace, Name string
	// IP is the ClusterIP, invalid for headless and external Services.
	IP netip.Addr
	// External is the name that an ExternalName Service stands for.
	External string
	// Ports are the Service's; of a headless Service its endpoints'.
	Ports []Port
	// Hosts are the ready endpoints.
	Hosts []Host
	// Sticky says that a client stays with an endpoint.
	Sticky bool
}

// Port is a port of a Service.
type Port struct {
	Name     string
	Protocol uint8
	// Number is the Service's port, of a headless Service the endpoints'.
	Number uint16
	// Backends are the endpoints that get connections, sorted.
	Backends []netip.AddrPort
}

// Host is an endpoint. Name is its host name, empty for most.
type Host struct {
	IP   netip.Addr
	Name string
}

// Headless reports whether clients choose among the endpoints themselves.
func (s Service) Headless() bool { return !s.IP.IsValid() && s.External == "" }

// Resolve joins Services with the EndpointSlices that name them. The result is
// sorted, so equal input gives an equal result.
func Resolve(services []*corev1.Service, all []*discoveryv1.EndpointSlice) []Service {
	byService := map[string][]*discoveryv1.EndpointSlice{}
	for _, s := range all {
		if s.AddressType == discoveryv1.AddressTypeIPv4 {
			key := s.Namespace + "/" + s.Labels[discoveryv1.LabelServiceName]
			byService[key] = append(byService[key], s)
		}
	}
	resolved := make([]Service, 0, len(services))
	for _, s := range services {
		resolved = append(resolved, resolve(s, byService[s.Namespace+"/"+s.Name]))
	}
	slices.SortFunc(resolved, func(a, b Service) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return resolved
}

func resolve(s *corev1.Service, parts []*discoveryv1.EndpointSlice) Service {
	r := Service{Namespace: s.Namespace, Name: s.Name, Sticky: s.Spec.SessionAffinity == corev1.ServiceAffinityClientIP}
	if s.Spec.Type == corev1.ServiceTypeExternalName {
		r.External = strings.TrimSuffix(s.Spec.ExternalName, ".")
		return r
	}
	r.IP = clusterIP(s)
	r.Hosts = hosts(parts)
	if r.Headless() {
		r.Ports = headlessPorts(parts)
		return r
	}
	for _, p := range s.Spec.Ports {
		number, ok := portNumber(p.Port)
		if !ok {
			continue
		}
		r.Ports = append(r.Ports, Port{
			Name: p.Name, Protocol: protocol(p.Protocol), Number: number,
			Backends: backends(parts, p.Name, p.Protocol),
		})
	}
	return r
}

// clusterIP finds the IPv4 one of up to two.
func clusterIP(s *corev1.Service) netip.Addr {
	for _, text := range append([]string{s.Spec.ClusterIP}, s.Spec.ClusterIPs...) {
		if ip, err := netip.ParseAddr(text); err == nil && ip.Is4() {
			return ip
		}
	}
	return netip.Addr{}
}

// ready follows EndpointConditions: no word means yes.
func ready(e discoveryv1.Endpoint) bool {
	return e.Conditions.Ready == nil || *e.Conditions.Ready
}

// lingering endpoints are terminating but still answer. They get connections
// where no other can.
func lingering(e discoveryv1.Endpoint) bool {
	c := e.Conditions
	return c.Terminating != nil && *c.Terminating && c.Serving != nil && *c.Serving
}

func backends(parts []*discoveryv1.EndpointSlice, port string, proto corev1.Protocol) []netip.AddrPort {
	var good, last []netip.AddrPort
	for _, part := range parts {
		number, ok := slicePort(part, port, proto)
		if !ok {
			continue
		}
		for _, e := range part.Endpoints {
			ip, ok := address(e)
			switch {
			case !ok:
			case ready(e):
				good = append(good, netip.AddrPortFrom(ip, number))
			case lingering(e):
				last = append(last, netip.AddrPortFrom(ip, number))
			}
		}
	}
	if len(good) == 0 {
		good = last
	}
	slices.SortFunc(good, netip.AddrPort.Compare)
	return slices.Compact(good)
}

// address is the first of an endpoint's, which are all equivalent.
func address(e discoveryv1.Endpoint) (netip.Addr, bool) {
	if len(e.Addresses) == 0 {
		return netip.Addr{}, false
	}
	ip, err := netip.ParseAddr(e.Addresses[0])
	return ip, err == nil && ip.Is4()
}

func slicePort(part *discoveryv1.EndpointSlice, name string, proto corev1.Protocol) (uint16, bool) {
	for _, p := range part.Ports {
		if value(p.Name) == name && protocol(value(p.Protocol)) == protocol(proto) && p.Port != nil {
			return portNumber(*p.Port)
		}
	}
	return 0, false
}

func hosts(parts []*discoveryv1.EndpointSlice) []Host {
	var found []Host
	for _, part := range parts {
		for _, e := range part.Endpoints {
			if ip, ok := address(e); ok && ready(e) {
				found = append(found, Host{IP: ip, Name: value(e.Hostname)})
			}
		}
	}
	slices.SortFunc(found, func(a, b Host) int { return cmp.Or(a.IP.Compare(b.IP), cmp.Compare(a.Name, b.Name)) })
	return slices.Compact(found)
}

func headlessPorts(parts []*discoveryv1.EndpointSlice) []Port {
	var ports []Port
	for _, part := range parts {
		for _, p := range part.Ports {
			number, ok := portNumber(value(p.Port))
			proto := value(p.Protocol)
			known := slices.ContainsFunc(ports, func(o Port) bool {
				return o.Name == value(p.Name) && o.Protocol == protocol(proto)
			})
			if ok && !known {
				ports = append(ports, Port{
					Name: value(p.Name), Protocol: protocol(proto), Number: number,
					Backends: backends(parts, value(p.Name), proto),
				})
			}
		}
	}
	slices.SortFunc(ports, func(a, b Port) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Protocol, b.Protocol))
	})
	return ports
}

func protocol(p corev1.Protocol) uint8 {
	switch p {
	case corev1.ProtocolUDP:
		return nat.UDP
	case corev1.ProtocolSCTP:
		return nat.SCTP
	}
	return nat.TCP
}

func portNumber(p int32) (uint16, bool) { return uint16(p), p > 0 && p <= 65535 }

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// Mappings are what is to be translated.
func Mappings(services []Service) []nat.Mapping {
	var all []nat.Mapping
	for _, s := range services {
		if !s.IP.IsValid() {
			continue
		}
		for _, p := range s.Ports {
			all = append(all, nat.Mapping{IP: s.IP, Protocol: p.Protocol, Port: p.Number, Endpoints: p.Backends, Sticky: s.Sticky})
		}
	}
	return all
}
