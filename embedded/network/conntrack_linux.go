// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"weir.dev/embedded/network/nat"
)

// forget ends flows to endpoints that are gone. TCP clients learn it from a reset;
// those of UDP would send into the void for as long as they go on.
func forget(flows []nat.Flow) error {
	var filters []netlink.CustomConntrackFilter
	for _, f := range flows {
		if f.Protocol != nat.UDP {
			continue
		}
		filter := &netlink.ConntrackFilter{}
		for _, err := range []error{
			filter.AddProtocol(f.Protocol),
			filter.AddPort(netlink.ConntrackOrigDstPort, f.Port),
			filter.AddIP(netlink.ConntrackOrigDstIP, f.IP.AsSlice()),
			filter.AddIP(netlink.ConntrackReplySrcIP, f.Endpoint.Addr().AsSlice()),
		} {
			if err != nil {
				return fmt.Errorf("find flows to %s: %w", f.Endpoint, err)
			}
		}
		filters = append(filters, filter)
	}
	if len(filters) == 0 {
		return nil
	}
	if _, err := netlink.ConntrackDeleteFilters(netlink.ConntrackTable, unix.AF_INET, filters...); err != nil {
		return fmt.Errorf("end flows to endpoints that are gone: %w", err)
	}
	return nil
}
