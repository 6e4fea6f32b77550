// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes"

	"weir.dev/embedded/network/dns"
	"weir.dev/embedded/network/nat"
	"weir.dev/embedded/network/relay"
)

const resolvConf = "/etc/resolv.conf"

// RunOptions say what to serve besides Services.
type RunOptions struct {
	// APIServer is the address on loopback ("127.0.0.1:port") that pods reach at
	// the machine's pod address with the same port. Empty means none.
	APIServer string
	// Resolvers answer names outside of the cluster ("host:port"). Nil means those
	// of /etc/resolv.conf; an empty list nobody.
	Resolvers []string
}

// Run translates Services, answers DNS and relays to the API server until ctx
// ends. What is in the kernel stays and goes on to translate.
func (n *Network) Run(ctx context.Context, client kubernetes.Interface, opts RunOptions) error {
	udp, tcp, err := n.listenDNS()
	if err != nil {
		return err
	}
	server := dns.New(dns.Config{UDP: udp, TCP: tcp, Forwarder: opts.forwarder(), Log: n.log})
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return server.Run(ctx) })
	g.Go(func() error { return n.follow(ctx, client, server, n.dnsMappings(udp)) })
	if opts.APIServer != "" {
		g.Go(func() error { return n.relayAPI(ctx, opts.APIServer) })
	}
	return g.Wait()
}

func (o RunOptions) forwarder() dns.Forwarder {
	switch {
	case o.Resolvers == nil:
		return dns.NewUpstream(resolvConf)
	case len(o.Resolvers) == 0:
		return nil
	}
	return dns.Fixed(o.Resolvers...)
}

// relayAPI leads pods to the API server, which listens on loopback only. The rules
// keep others on the network out too.
func (n *Network) relayAPI(ctx context.Context, target string) error {
	_, port, err := net.SplitHostPort(target)
	if err != nil {
		return fmt.Errorf("address of the API server: %w", err)
	}
	ln, err := net.Listen("tcp4", net.JoinHostPort(n.BridgeIP().String(), port))
	if err != nil {
		return fmt.Errorf("listen for pods that call the API server: %w", err)
	}
	return relay.New(relay.Config{Listener: ln, Target: target, Allow: n.PodCIDR().Contains, Log: n.log}).Run(ctx)
}

// listenDNS takes a port of the machine's pod address: port 53 may be another
// resolver's. It prefers the last one.
func (n *Network) listenDNS() (net.PacketConn, net.Listener, error) {
	var errs []error
	for _, port := range []uint16{n.state.DNSPort, 0, 0, 0} { // The TCP port of the same number may be taken.
		udp, err := net.ListenPacket("udp4", netip.AddrPortFrom(n.BridgeIP(), port).String())
		if err != nil {
			errs = append(errs, err)
			continue
		}
		tcp, err := net.Listen("tcp4", udp.LocalAddr().String())
		if err != nil {
			errs = append(errs, err, udp.Close())
			continue
		}
		return udp, tcp, n.rememberDNS(udp)
	}
	return nil, nil, fmt.Errorf("listen for DNS: %w", errors.Join(errs...))
}

func (n *Network) rememberDNS(udp net.PacketConn) error {
	port := dnsAddr(udp).Port()
	if port == n.state.DNSPort {
		return nil
	}
	n.state.DNSPort = port
	return n.writeState(n.state)
}

func dnsAddr(udp net.PacketConn) netip.AddrPort {
	return udp.LocalAddr().(*net.UDPAddr).AddrPort()
}

// dnsMappings translate the ClusterIP of DNS, whether or not there is a Service.
func (n *Network) dnsMappings(udp net.PacketConn) []nat.Mapping {
	var all []nat.Mapping
	for _, proto := range []uint8{nat.UDP, nat.TCP} {
		all = append(all, nat.Mapping{IP: n.DNSIP(), Protocol: proto, Port: 53, Endpoints: []netip.AddrPort{dnsAddr(udp)}})
	}
	return all
}
