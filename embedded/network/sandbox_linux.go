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
	"slices"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"weir.dev/embedded/network/netns"
)

// Attachment is a sandbox's place in the network.
type Attachment struct {
	// NetNS is the path of the network namespace.
	NetNS string
	// IP is the sandbox's address, on its interface eth0.
	IP netip.Addr
}

// Attach makes a network namespace for a sandbox, with an address and a way to
// everything that pods reach. A sandbox that has one keeps it, also after a
// restart; one of which something is missing gets all anew.
func (n *Network) Attach(ctx context.Context, id string) (Attachment, error) {
	if err := errors.Join(checkID(id), ctx.Err()); err != nil {
		return Attachment{}, err
	}
	defer n.busy.lock(id)()
	ip, err := n.readSandbox(id)
	if err != nil {
		return Attachment{}, err
	}
	at := Attachment{NetNS: n.netns(id), IP: ip}
	if ip.IsValid() {
		if n.attached(at) {
			return at, nil
		}
		if err := n.detach(id, ip); err != nil {
			return Attachment{}, err
		}
	}
	if at.IP, err = n.addresses.Take(); err != nil {
		return Attachment{}, fmt.Errorf("attach sandbox %s: %w", id, err)
	}
	if err := n.attach(id, at); err != nil {
		return Attachment{}, errors.Join(fmt.Errorf("attach sandbox %s: %w", id, err), n.detach(id, at.IP))
	}
	return at, nil
}

// Detach removes a sandbox's network. It can be repeated.
func (n *Network) Detach(_ context.Context, id string) error {
	if err := checkID(id); err != nil {
		return err
	}
	defer n.busy.lock(id)()
	ip, err := n.readSandbox(id)
	if err != nil || !ip.IsValid() {
		return err
	}
	return n.detach(id, ip)
}

// Sandboxes lists the sandboxes that are attached, also those of earlier runs.
func (n *Network) Sandboxes() ([]string, error) {
	all, err := n.sandboxes()
	ids := make([]string, 0, len(all))
	for id := range all {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids, err
}

// attached reports whether everything that Attach makes is there.
func (n *Network) attached(at Attachment) bool {
	if !netns.Pinned(at.NetNS) {
		return false
	}
	link, err := n.host.LinkByName(n.link(at.IP))
	if err != nil {
		return false
	}
	routes, err := n.host.RouteListFiltered(netlink.FAMILY_V4, podRoute(link, at.IP, n.BridgeIP()), netlink.RT_FILTER_DST|netlink.RT_FILTER_OIF)
	return err == nil && len(routes) == 1
}

// attach makes a sandbox's network. The record comes first, so that whatever
// happens somebody knows what to remove.
func (n *Network) attach(id string, at Attachment) error {
	if err := n.write(n.sandbox(id), []byte(at.IP.String())); err != nil {
		return err
	}
	var link netlink.Link
	err := netns.New(at.NetNS, func(ns *os.File) (err error) {
		if err := podSysctls(); err != nil {
			return err
		}
		if link, err = n.addVeth(at.IP, ns); err != nil {
			return err
		}
		return n.configurePod(at.IP)
	})
	if err != nil {
		return err
	}
	return n.connect(link, at.IP)
}

// podSysctls are set before the interface comes, which takes the defaults.
func podSysctls() error {
	if err := disableIPv6("default"); err != nil {
		return err
	}
	// As containerd does: programs that are not root listen on port 80 and ping.
	if err := sysctl("net/ipv4/ip_unprivileged_port_start", "0"); err != nil {
		return err
	}
	return sysctl("net/ipv4/ping_group_range", "0 2147483647")
}

// addVeth makes the pair with one end here and one in the namespace.
func (n *Network) addVeth(ip netip.Addr, ns *os.File) (netlink.Link, error) {
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.MTU, attrs.HardwareAddr, attrs.Flags = n.link(ip), n.mtu, hostMAC(ip), net.FlagUp
	veth := netlink.NewVeth(attrs)
	veth.PeerName, veth.PeerHardwareAddr, veth.PeerNamespace = podLink, podMAC(ip), netlink.NsFd(ns.Fd())
	if err := n.host.LinkAdd(veth); err != nil {
		return nil, fmt.Errorf("make interface %s: %w", attrs.Name, err)
	}
	return veth, nil
}

const podLink = "eth0"

// configurePod sets up the pod's end. It runs on a thread in the namespace.
func (n *Network) configurePod(ip netip.Addr) error {
	h, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer h.Close()
	lo, err := h.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("find loopback: %w", err)
	}
	link, err := h.LinkByName(podLink)
	if err != nil {
		return fmt.Errorf("find the pod's interface: %w", err)
	}
	index, gw := link.Attrs().Index, n.BridgeIP()
	for _, step := range []func() error{
		func() error { return h.LinkSetUp(lo) },
		func() error { return h.AddrAdd(link, &netlink.Addr{IPNet: single(ip)}) },
		func() error { return h.LinkSetUp(link) },
		func() error { return h.NeighSet(neighbour(index, gw, hostMAC(ip))) },
		func() error {
			return h.RouteAdd(&netlink.Route{LinkIndex: index, Dst: single(gw), Scope: netlink.SCOPE_LINK})
		},
		func() error {
			return h.RouteAdd(&netlink.Route{LinkIndex: index, Gw: gw.AsSlice()})
		},
	} {
		if err := step(); err != nil {
			return fmt.Errorf("configure the pod's interface: %w", err)
		}
	}
	return nil
}

// connect leads the pod's address to its interface, and nothing else from there:
// a strict reverse path makes the kernel drop packets with other sources.
func (n *Network) connect(link netlink.Link, ip netip.Addr) error {
	name := link.Attrs().Name
	if err := disableIPv6(name); err != nil {
		return err
	}
	if err := sysctl("net/ipv4/conf/"+name+"/rp_filter", "1"); err != nil {
		return err
	}
	if err := n.host.NeighSet(neighbour(link.Attrs().Index, ip, podMAC(ip))); err != nil {
		return fmt.Errorf("neighbour %s: %w", ip, err)
	}
	if err := n.host.RouteAdd(podRoute(link, ip, n.BridgeIP())); err != nil {
		return fmt.Errorf("route to %s: %w", ip, err)
	}
	return nil
}

func podRoute(link netlink.Link, ip, from netip.Addr) *netlink.Route {
	return &netlink.Route{
		LinkIndex: link.Attrs().Index, Dst: single(ip), Src: from.AsSlice(),
		Scope: netlink.SCOPE_LINK, Protocol: protocol,
	}
}

func neighbour(link int, ip netip.Addr, mac net.HardwareAddr) *netlink.Neigh {
	return &netlink.Neigh{LinkIndex: link, Family: netlink.FAMILY_V4, State: netlink.NUD_PERMANENT, IP: ip.AsSlice(), HardwareAddr: mac}
}

// detach removes whatever is there of a sandbox's network, the record last.
func (n *Network) detach(id string, ip netip.Addr) error {
	err := n.removePod(id, ip)
	if err != nil {
		return fmt.Errorf("detach sandbox %s: %w", id, err)
	}
	n.addresses.Free(ip)
	return nil
}

// removePod needs no running network: purge calls it too.
func (n names) removePod(id string, ip netip.Addr) error {
	// The interface takes its route along: from now on the address is unreachable.
	link, err := netlink.LinkByName(n.link(ip))
	if err == nil {
		err = removeLink(link)
	} else if errors.As(err, &netlink.LinkNotFoundError{}) {
		err = nil
	}
	if err := errors.Join(err, netns.Remove(n.netns(id))); err != nil {
		return err
	}
	if err := os.Remove(n.sandbox(id)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
