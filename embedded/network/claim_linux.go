// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"bufio"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"weir.dev/embedded/network/ranges"
)

// protocol marks our routes in "ip route": 'W'.
const protocol = netlink.RouteProtocol(0x57)

// claim makes sure that nothing of the two ranges can leave the machine, before
// anything uses them. It takes the ranges of the last start, else free ones.
func claim(n names, log *slog.Logger) (state, error) {
	s, known, err := n.readState()
	if err != nil {
		return state{}, err
	}
	if known {
		return s, reclaim(n, s.Plan, log)
	}
	taken, err := inUse(n)
	if err != nil {
		return state{}, err
	}
	for p := range ranges.Candidates(n.seed()) {
		if _, conflict := p.Conflict(taken); conflict {
			continue
		}
		ok, err := tryClaim(n, p)
		if err != nil {
			return state{}, err
		}
		if ok {
			s := state{Plan: p}
			return s, n.writeState(s)
		}
	}
	return state{}, errors.New("all private address ranges are in use on this machine")
}

// reclaim takes the ranges of an earlier start. They cannot change: stored
// Services have addresses of them.
func reclaim(n names, p ranges.Plan, log *slog.Logger) error {
	if err := blockRoutes(n, p); err != nil {
		return err
	}
	taken, err := inUse(n)
	if err != nil {
		return err
	}
	other, conflict := p.Conflict(taken)
	if !conflict {
		return nil
	}
	claimed, err := claimedByOther(n, p)
	if err != nil {
		return err
	}
	if claimed {
		err := fmt.Errorf("the address ranges %s and %s of %s are now in use by another Weir: stop that, or purge this", p.Pods, p.Services, n.dir)
		return errors.Join(err, unblockRoutes(n))
	}
	log.Warn("The machine now uses addresses of the pod network; what it reaches there may be cut off",
		"network", other, "pods", p.Pods, "services", p.Services)
	return nil
}

// tryClaim blocks the ranges and gives them up again if another Weir did the
// same at the same time. Both may do so, and go on with different ones.
func tryClaim(n names, p ranges.Plan) (bool, error) {
	if err := blockRoutes(n, p); err != nil {
		return false, err
	}
	other, err := claimedByOther(n, p)
	if err != nil || !other {
		return !other, err
	}
	return false, unblockRoutes(n)
}

// blockRoutes installs the unreachable routes.
func blockRoutes(n names, p ranges.Plan) error {
	for _, prefix := range []netip.Prefix{p.Pods, p.Services} {
		err := netlink.RouteAdd(&netlink.Route{
			Dst: ipNet(prefix), Type: unix.RTN_UNREACHABLE, Protocol: protocol, Priority: n.metric(),
		})
		if err != nil && !errors.Is(err, unix.EEXIST) {
			return fmt.Errorf("make %s unreachable: %w", prefix, err)
		}
	}
	return nil
}

// unblockRoutes removes all unreachable routes of this data directory.
func unblockRoutes(n names) error {
	routes, err := blocks()
	if err != nil {
		return err
	}
	var errs []error
	for _, r := range routes {
		if r.Priority != n.metric() {
			continue
		}
		if err := netlink.RouteDel(&r); err != nil && !errors.Is(err, unix.ESRCH) {
			errs = append(errs, fmt.Errorf("remove route %s: %w", r.Dst, err))
		}
	}
	return errors.Join(errs...)
}

// blocks lists the unreachable routes of all Weirs.
func blocks() ([]netlink.Route, error) {
	filter := &netlink.Route{Type: unix.RTN_UNREACHABLE, Protocol: protocol}
	routes, err := netlink.RouteListFiltered(netlink.FAMILY_V4, filter, netlink.RT_FILTER_TYPE|netlink.RT_FILTER_PROTOCOL)
	if err != nil {
		return nil, fmt.Errorf("list routes: %w", err)
	}
	return routes, nil
}

func claimedByOther(n names, p ranges.Plan) (bool, error) {
	routes, err := blocks()
	if err != nil {
		return false, err
	}
	var others []netip.Prefix
	for _, r := range routes {
		if r.Priority != n.metric() {
			others = append(others, prefixOf(r.Dst))
		}
	}
	_, conflict := p.Conflict(others)
	return conflict, nil
}

// inUse lists what the machine uses: its addresses, its routes in all tables and
// its resolvers, without what is ours.
func inUse(n names) ([]netip.Prefix, error) {
	own := map[int]bool{}
	links, err := netlink.LinkList()
	if err != nil {
		return nil, fmt.Errorf("list interfaces: %w", err)
	}
	for _, l := range links {
		own[l.Attrs().Index] = n.owns(l.Attrs().Name)
	}
	addrs, err := netlink.AddrList(nil, netlink.FAMILY_V4)
	if err != nil {
		return nil, fmt.Errorf("list addresses: %w", err)
	}
	var taken []netip.Prefix
	for _, a := range addrs {
		if !own[a.LinkIndex] {
			taken = append(taken, prefixOf(a.IPNet))
		}
	}
	routes, err := netlink.RouteListFiltered(netlink.FAMILY_V4, &netlink.Route{Table: unix.RT_TABLE_UNSPEC}, netlink.RT_FILTER_TABLE)
	if err != nil {
		return nil, fmt.Errorf("list routes: %w", err)
	}
	for _, r := range routes {
		if r.Dst != nil && !own[r.LinkIndex] && r.Priority != n.metric() {
			taken = append(taken, prefixOf(r.Dst))
		}
	}
	return append(taken, resolvers("/etc/resolv.conf")...), nil
}

// owns reports whether an interface is one of this data directory's.
func (n names) owns(link string) bool {
	return link == n.bridge() || (len(link) == len(n.linkPrefix())+8 && strings.HasPrefix(link, n.linkPrefix()))
}

// resolvers are addresses that no route names but the default one.
func resolvers(file string) []netip.Prefix {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	var found []netip.Prefix
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 || fields[0] != "nameserver" {
			continue
		}
		if ip, err := netip.ParseAddr(fields[1]); err == nil && ip.Is4() {
			found = append(found, netip.PrefixFrom(ip, ip.BitLen()))
		}
	}
	return found
}

func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}

func single(ip netip.Addr) *net.IPNet { return ipNet(netip.PrefixFrom(ip, ip.BitLen())) }

func prefixOf(n *net.IPNet) netip.Prefix {
	ip, _ := netip.AddrFromSlice(n.IP)
	bits, _ := n.Mask.Size()
	return netip.PrefixFrom(ip.Unmap(), bits).Masked()
}
