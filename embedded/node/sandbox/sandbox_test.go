// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestPodDNS(t *testing.T) {
	cluster := ClusterDNS{Server: netip.MustParseAddr("10.96.0.10"), Domain: "cluster.local"}
	host := ParseDNS("# comment\nnameserver 192.0.2.53\nsearch corp.example\noptions edns0\n")
	cases := map[string]struct {
		reason string
		spec   corev1.PodSpec
		want   string
	}{
		"cluster": {"the default of pods", corev1.PodSpec{DNSPolicy: corev1.DNSClusterFirst},
			"search ns.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:5\n"},
		"host network": {"has the machine's", corev1.PodSpec{DNSPolicy: corev1.DNSClusterFirst, HostNetwork: true},
			"search corp.example\nnameserver 192.0.2.53\noptions edns0\n"},
		"host network with cluster": {"unless it asks", corev1.PodSpec{DNSPolicy: corev1.DNSClusterFirstWithHostNet, HostNetwork: true},
			"search ns.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:5\n"},
		"own": {"only what the pod says", corev1.PodSpec{DNSPolicy: corev1.DNSNone, DNSConfig: &corev1.PodDNSConfig{Nameservers: []string{"1.2.3.4"}}},
			"nameserver 1.2.3.4\n"},
		"changed": {"options replace those of the same name", corev1.PodSpec{DNSPolicy: corev1.DNSDefault, DNSConfig: &corev1.PodDNSConfig{
			Nameservers: []string{"192.0.2.53", "1.2.3.4"}, Searches: []string{"more.example"},
			Options: []corev1.PodDNSConfigOption{{Name: "edns0"}, {Name: "ndots", Value: ptr.To("2")}}}},
			"search corp.example more.example\nnameserver 192.0.2.53\nnameserver 1.2.3.4\noptions edns0 ndots:2\n"},
	}
	for name, c := range cases {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns"}, Spec: c.spec}
		if diff := cmp.Diff(c.want, PodDNS(pod, cluster, host).String()); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, c.reason, diff)
		}
	}
}

func TestHosts(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web-0"},
		Spec: corev1.PodSpec{Subdomain: "web", HostAliases: []corev1.HostAlias{{IP: "1.2.3.4", Hostnames: []string{"a", "b"}}}}}
	got := Hosts(pod, netip.MustParseAddr("10.0.0.5"), "cluster.local")
	for _, want := range []string{"127.0.0.1\tlocalhost\n", "10.0.0.5\tweb-0.web.ns.svc.cluster.local\tweb-0\n", "1.2.3.4\ta\tb\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
}

func TestHostname(t *testing.T) {
	long := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: strings.Repeat("a", 62) + "-tail"}}
	if got := Hostname(long); got != strings.Repeat("a", 62) {
		t.Errorf("a long name became %q", got)
	}
	named := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod"}, Spec: corev1.PodSpec{Hostname: "mine"}}
	if got := Hostname(named); got != "mine" {
		t.Errorf("got %q", got)
	}
}

func TestUnescape(t *testing.T) {
	for escaped, want := range map[string]string{`/a\040b`: "/a b", `/plain`: "/plain", `/back\134slash`: `/back\slash`, `/end\04`: `/end\04`} {
		if got := unescape(escaped); got != want {
			t.Errorf("%q became %q, want %q", escaped, got, want)
		}
	}
}
