// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// DNS is what a pod's resolv.conf says.
type DNS struct {
	Nameservers []string
	Searches    []string
	Options     []string
}

// ClusterDNS is the cluster's resolver, as pods use it.
type ClusterDNS struct {
	Server netip.Addr
	Domain string
}

// PodDNS computes a pod's resolver configuration from its DNS policy.
// host is the machine's own, for the policy Default.
func PodDNS(pod *corev1.Pod, cluster ClusterDNS, host DNS) DNS {
	policy := pod.Spec.DNSPolicy
	if policy == corev1.DNSClusterFirst && pod.Spec.HostNetwork {
		policy = corev1.DNSDefault
	}
	var dns DNS
	switch policy {
	case corev1.DNSNone:
	case corev1.DNSDefault:
		dns = host
	default:
		dns = DNS{
			Nameservers: []string{cluster.Server.String()},
			Searches:    []string{pod.Namespace + ".svc." + cluster.Domain, "svc." + cluster.Domain, cluster.Domain},
			Options:     []string{"ndots:5"},
		}
	}
	return dns.with(pod.Spec.DNSConfig)
}

func (d DNS) with(config *corev1.PodDNSConfig) DNS {
	if config == nil {
		return d
	}
	d.Nameservers = unique(append(slices.Clone(d.Nameservers), config.Nameservers...))
	d.Searches = unique(append(slices.Clone(d.Searches), config.Searches...))
	d.Options = slices.Clone(d.Options)
	for _, option := range config.Options {
		d.Options = slices.DeleteFunc(d.Options, func(old string) bool {
			name, _, _ := strings.Cut(old, ":")
			return name == option.Name
		})
		text := option.Name
		if option.Value != nil && *option.Value != "" {
			text += ":" + *option.Value
		}
		d.Options = append(d.Options, text)
	}
	return d
}

func unique(list []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(s string) bool {
		was := seen[s]
		seen[s] = true
		return was
	})
}

// ParseDNS reads a resolv.conf(5).
func ParseDNS(text string) DNS {
	var dns DNS
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		switch fields[0] {
		case "nameserver":
			dns.Nameservers = append(dns.Nameservers, fields[1])
		case "search":
			dns.Searches = fields[1:]
		case "options":
			dns.Options = fields[1:]
		}
	}
	return dns
}

// String writes a resolv.conf(5).
func (d DNS) String() string {
	var out strings.Builder
	if len(d.Searches) > 0 {
		fmt.Fprintf(&out, "search %s\n", strings.Join(d.Searches, " "))
	}
	for _, server := range d.Nameservers {
		fmt.Fprintf(&out, "nameserver %s\n", server)
	}
	if len(d.Options) > 0 {
		fmt.Fprintf(&out, "options %s\n", strings.Join(d.Options, " "))
	}
	return out.String()
}

// Hostname is a pod's host name: spec.hostname, else its name, cut to what
// the kernel takes.
func Hostname(pod *corev1.Pod) string {
	const longest = 63
	name := pod.Name
	if pod.Spec.Hostname != "" {
		name = pod.Spec.Hostname
	}
	if len(name) > longest {
		name = strings.TrimRight(name[:longest], "-.")
	}
	return name
}

// Hosts is a pod's /etc/hosts.
func Hosts(pod *corev1.Pod, ip netip.Addr, clusterDomain string) string {
	var out strings.Builder
	out.WriteString("# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n" +
		"fe00::0\tip6-localnet\nfe00::0\tip6-mcastprefix\nfe00::1\tip6-allnodes\nfe00::2\tip6-allrouters\n")
	host := Hostname(pod)
	if pod.Spec.Subdomain != "" {
		host = fmt.Sprintf("%s.%s.%s.svc.%s\t%s", host, pod.Spec.Subdomain, pod.Namespace, clusterDomain, host)
	}
	fmt.Fprintf(&out, "%s\t%s\n", ip, host)
	for _, alias := range pod.Spec.HostAliases {
		fmt.Fprintf(&out, "%s\t%s\n", alias.IP, strings.Join(alias.Hostnames, "\t"))
	}
	return out.String()
}

// WriteFiles writes the files that every container of the sandbox gets.
func (s *Sandbox) WriteFiles(hosts string, dns DNS) error {
	files := map[string]string{"hosts": hosts, "hostname": s.Hostname + "\n", "resolv.conf": dns.String()}
	for name, content := range files {
		path := filepath.Join(s.FilesDir(), name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return fmt.Errorf("write sandbox's %s: %w", name, err)
		}
		// Whatever our umask is: users other than root read these.
		if err := os.Chmod(path, 0o644); err != nil {
			return fmt.Errorf("write sandbox's %s: %w", name, err)
		}
	}
	return nil
}
