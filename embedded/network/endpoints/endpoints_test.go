// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package endpoints

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"weir.dev/embedded/network/nat"
)

func service(name string, spec corev1.ServiceSpec) *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}, Spec: spec}
}

func slice(of string, ports []discoveryv1.EndpointPort, ends ...discoveryv1.Endpoint) *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: "ns", Labels: map[string]string{discoveryv1.LabelServiceName: of}},
		AddressType: discoveryv1.AddressTypeIPv4, Ports: ports, Endpoints: ends,
	}
}

func slicePorts(name string, number int32) []discoveryv1.EndpointPort {
	return []discoveryv1.EndpointPort{{Name: new(name), Port: new(number)}}
}

// end is an endpoint; conditions left out are nil.
func end(ip string, conditions ...bool) discoveryv1.Endpoint {
	e := discoveryv1.Endpoint{Addresses: []string{ip}}
	for i, to := range []**bool{&e.Conditions.Ready, &e.Conditions.Serving, &e.Conditions.Terminating} {
		if i < len(conditions) {
			*to = new(conditions[i])
		}
	}
	return e
}

func ports(addrs ...string) []netip.AddrPort {
	var all []netip.AddrPort
	for _, a := range addrs {
		all = append(all, netip.MustParseAddrPort(a))
	}
	return all
}

func TestResolve(t *testing.T) {
	web := corev1.ServiceSpec{ClusterIP: "10.9.0.7", Ports: []corev1.ServicePort{{Name: "http", Port: 80}}}
	clusterIP := netip.MustParseAddr("10.9.0.7")
	tests := map[string]struct {
		reason string
		spec   corev1.ServiceSpec
		slices []*discoveryv1.EndpointSlice
		want   Service
	}{
		"several slices": {
			"endpoints of all slices count, each once; conditions that are not said are true",
			web,
			[]*discoveryv1.EndpointSlice{
				slice("s", slicePorts("http", 8080), end("10.8.0.3"), end("10.8.0.2", true)),
				slice("s", slicePorts("http", 9090), end("10.8.0.3"), end("10.8.0.3")),
				slice("other", slicePorts("http", 8080), end("10.8.0.9")),
			},
			Service{IP: clusterIP, Ports: []Port{{Name: "http", Protocol: nat.TCP, Number: 80, Backends: ports("10.8.0.2:8080", "10.8.0.3:8080", "10.8.0.3:9090")}}},
		},
		"not ready": {
			"who is not ready gets nothing",
			web,
			[]*discoveryv1.EndpointSlice{slice("s", slicePorts("http", 8080), end("10.8.0.2", false), end("10.8.0.3", true))},
			Service{IP: clusterIP, Ports: []Port{{Name: "http", Protocol: nat.TCP, Number: 80, Backends: ports("10.8.0.3:8080")}}},
		},
		"only terminating": {
			"a terminating endpoint that still serves is better than a refusal",
			web,
			[]*discoveryv1.EndpointSlice{slice("s", slicePorts("http", 8080), end("10.8.0.2", false, true, true), end("10.8.0.3", false, false, true))},
			Service{IP: clusterIP, Ports: []Port{{Name: "http", Protocol: nat.TCP, Number: 80, Backends: ports("10.8.0.2:8080")}}},
		},
		"other port name": {
			"ports belong together by name",
			web,
			[]*discoveryv1.EndpointSlice{slice("s", slicePorts("metrics", 8080), end("10.8.0.2"))},
			Service{IP: clusterIP, Ports: []Port{{Name: "http", Protocol: nat.TCP, Number: 80}}},
		},
		"IPv6 and nonsense": {
			"what cannot be translated is left out",
			corev1.ServiceSpec{ClusterIP: "fd00::1", ClusterIPs: []string{"fd00::1", "10.9.0.7"}, Ports: []corev1.ServicePort{{Port: 0}, {Port: 70000}}},
			[]*discoveryv1.EndpointSlice{{
				ObjectMeta:  metav1.ObjectMeta{Namespace: "ns", Labels: map[string]string{discoveryv1.LabelServiceName: "s"}},
				AddressType: discoveryv1.AddressTypeIPv6, Endpoints: []discoveryv1.Endpoint{end("fd00::2")},
			}, slice("s", nil, end("nonsense"), discoveryv1.Endpoint{})},
			Service{IP: clusterIP},
		},
		"external": {
			"a name has neither address nor ports",
			corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "gw.ns.svc.cluster.local.", Ports: web.Ports},
			nil,
			Service{External: "gw.ns.svc.cluster.local"},
		},
		"headless": {
			"clients see the endpoints' own ports and host names",
			corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Ports: web.Ports, SessionAffinity: corev1.ServiceAffinityClientIP},
			[]*discoveryv1.EndpointSlice{slice("s", slicePorts("http", 8080), func() discoveryv1.Endpoint {
				e := end("10.8.0.2")
				e.Hostname = new("db-0")
				return e
			}(), end("10.8.0.3", false))},
			Service{
				Sticky: true, Hosts: []Host{{netip.MustParseAddr("10.8.0.2"), "db-0"}},
				Ports: []Port{{Name: "http", Protocol: nat.TCP, Number: 8080, Backends: ports("10.8.0.2:8080")}},
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Resolve([]*corev1.Service{service("s", tc.spec)}, tc.slices)
			tc.want.Namespace, tc.want.Name = "ns", "s"
			opts := []cmp.Option{cmp.Comparer(func(a, b netip.Addr) bool { return a == b }), cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b }), cmpopts.EquateEmpty()}
			if tc.want.IP.IsValid() {
				opts = append(opts, cmpopts.IgnoreFields(Service{}, "Hosts"))
			}
			if diff := cmp.Diff([]Service{tc.want}, got, opts...); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestMappings(t *testing.T) {
	got := Mappings(Resolve([]*corev1.Service{
		service("b", corev1.ServiceSpec{ClusterIP: "10.9.0.7", Ports: []corev1.ServicePort{{Name: "dns", Port: 53, Protocol: corev1.ProtocolUDP}}}),
		service("a", corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "x"}),
		service("c", corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone}),
	}, []*discoveryv1.EndpointSlice{slice("b", []discoveryv1.EndpointPort{{Name: new("dns"), Port: new(int32(5353)), Protocol: new(corev1.ProtocolUDP)}}, end("10.8.0.2"))}))
	if len(got) != 1 || got[0].Protocol != nat.UDP || got[0].Port != 53 || got[0].Endpoints[0] != netip.MustParseAddrPort("10.8.0.2:5353") {
		t.Errorf("mappings %+v", got)
	}
}
