// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// defaultMTU is for machines without a default route.
const defaultMTU = 1500

// ensureBridge makes the interface that holds the machine's pod address.
func ensureBridge(n names, ip netip.Addr, mtu int) (netlink.Link, error) {
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.MTU = n.bridge(), mtu
	err := netlink.LinkAdd(&netlink.Bridge{LinkAttrs: attrs})
	if err != nil && !errors.Is(err, unix.EEXIST) {
		return nil, fmt.Errorf("make interface %s: %w", n.bridge(), err)
	}
	link, err := netlink.LinkByName(n.bridge())
	if err != nil {
		return nil, fmt.Errorf("find interface %s: %w", n.bridge(), err)
	}
	if err := disableIPv6(n.bridge()); err != nil {
		return nil, err
	}
	if err := netlink.AddrReplace(link, &netlink.Addr{IPNet: single(ip)}); err != nil {
		return nil, fmt.Errorf("give %s the address %s: %w", n.bridge(), ip, err)
	}
	// Nobody is there to hear group memberships.
	if err := netlink.LinkSetMulticastOff(link); err != nil {
		return nil, fmt.Errorf("set multicast of %s off: %w", n.bridge(), err)
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return nil, fmt.Errorf("set %s up: %w", n.bridge(), err)
	}
	return link, nil
}

// serviceRoute lets the machine's own programs begin to speak to Service
// addresses: for them the route is looked up before rules translate. What no rule
// translates is rejected, and would end at the bridge, which leads nowhere.
func serviceRoute(bridge netlink.Link, services netip.Prefix, from netip.Addr) *netlink.Route {
	return &netlink.Route{
		LinkIndex: bridge.Attrs().Index, Dst: ipNet(services), Src: from.AsSlice(),
		Scope: netlink.SCOPE_LINK, Protocol: protocol,
	}
}

// egressMTU is what fits through the way out.
func egressMTU() int {
	routes, err := netlink.RouteListFiltered(netlink.FAMILY_V4, &netlink.Route{}, netlink.RT_FILTER_DST)
	if err != nil {
		return defaultMTU
	}
	for _, r := range routes {
		if link, err := netlink.LinkByIndex(r.LinkIndex); err == nil && link.Attrs().MTU > 0 {
			return link.Attrs().MTU
		}
	}
	return defaultMTU
}

// enableForwarding makes the machine a router, which pods need. It is not undone:
// others may have come to need it.
func enableForwarding() error {
	const file = "/proc/sys/net/ipv4/ip_forward"
	if on, err := os.ReadFile(file); err == nil && on[0] == '1' {
		return nil
	}
	return sysctl("net/ipv4/ip_forward", "1")
}

func disableIPv6(link string) error {
	err := sysctl("net/ipv6/conf/"+link+"/disable_ipv6", "1")
	if errors.Is(err, os.ErrNotExist) {
		return nil // A kernel without IPv6.
	}
	return err
}

// sysctl writes a setting of the thread's network namespace.
func sysctl(name, value string) error {
	f, err := os.OpenFile("/proc/sys/"+name, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("set %s: %w", name, err)
	}
	_, err = f.WriteString(value)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("set %s to %s: %w", name, value, err)
	}
	return nil
}

// removeLinks deletes all interfaces of this data directory.
func removeLinks(n names) error {
	links, err := netlink.LinkList()
	if err != nil {
		return fmt.Errorf("list interfaces: %w", err)
	}
	var errs []error
	for _, l := range links {
		if n.owns(l.Attrs().Name) {
			errs = append(errs, removeLink(l))
		}
	}
	return errors.Join(errs...)
}

func removeLink(l netlink.Link) error {
	err := netlink.LinkDel(l)
	if err != nil && !errors.Is(err, unix.ENODEV) && !errors.As(err, &netlink.LinkNotFoundError{}) {
		return fmt.Errorf("remove interface %s: %w", l.Attrs().Name, err)
	}
	return nil
}

// podMAC is a locally administered address that tells the pod's IP.
func podMAC(ip netip.Addr) net.HardwareAddr {
	return append(net.HardwareAddr{0x0a, 0x58}, ip.AsSlice()...)
}

// hostMAC is that of the other end; both ends know each other without asking.
func hostMAC(ip netip.Addr) net.HardwareAddr {
	return append(net.HardwareAddr{0x0a, 0x57}, ip.AsSlice()...)
}
