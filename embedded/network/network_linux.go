// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"weir.dev/embedded/network/nat"
	"weir.dev/embedded/network/netns"
	"weir.dev/embedded/network/ranges"
)

// dnsIndex and apiIndex are the places of well-known Services in their range, as
// kubeadm and the API server choose them.
const (
	apiIndex = 1
	dnsIndex = 10
)

// Config says whose network it is.
type Config struct {
	// DataDir names everything in the kernel and keeps the address ranges.
	DataDir string
	// ClusterDomain is the DNS domain of Services. Empty means "cluster.local".
	ClusterDomain string
	// Log gets what an operator should know. Nil discards it.
	Log *slog.Logger
}

// Network is a pod network in the kernel. It stays when the process ends, until
// [Network.Close] or [Purge].
type Network struct {
	names
	domain    string
	log       *slog.Logger
	state     state
	mtu       int
	host      *netlink.Handle
	rules     *nat.Table
	addresses *ranges.Allocator
	busy      keyLock
}

// New makes the network of a data directory, or adopts what an earlier process
// left of it.
func New(cfg Config) (*Network, error) {
	n := &Network{domain: cfg.ClusterDomain, log: cfg.Log, mtu: egressMTU()}
	if n.domain == "" {
		n.domain = "cluster.local"
	}
	if n.log == nil {
		n.log = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("data directory of the network: %w", err)
	}
	var err error
	if n.names, err = namesFor(cfg.DataDir); err != nil {
		return nil, fmt.Errorf("data directory of the network: %w", err)
	}
	for _, dir := range []string{n.file("netns"), n.file("sandboxes")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("data directory of the network: %w", err)
		}
	}
	if n.state, err = claim(n.names, n.log); err != nil {
		return nil, fmt.Errorf("claim address ranges: %w", err)
	}
	return n, n.start()
}

// start makes what rests on the claimed ranges.
func (n *Network) start() error {
	used, err := n.sandboxes()
	if err != nil {
		return err
	}
	var ips []netip.Addr
	for _, ip := range used {
		ips = append(ips, ip)
	}
	// The seed differs between starts, so that an address freed just before a
	// restart is not the first to come again.
	n.addresses = ranges.NewAllocator(n.PodCIDR(), uint32(os.Getpid())*2654435761, ips...)
	if n.host, err = netlink.NewHandle(unix.NETLINK_ROUTE); err != nil {
		return fmt.Errorf("open netlink: %w", err)
	}
	bridge, err := ensureBridge(n.names, n.BridgeIP(), n.mtu)
	if err != nil {
		return err
	}
	if n.rules, err = nat.Open(n.tableConfig()); err != nil {
		return err
	}
	if chains, err := n.rules.Blocking(); err == nil && len(chains) > 0 {
		n.log.Warn("A firewall on this machine drops forwarded packets; let interfaces pass whose names begin so", "chains", chains, "interfaces", n.linkPrefix())
	}
	if err := netlink.RouteReplace(serviceRoute(bridge, n.ServiceCIDR(), n.BridgeIP())); err != nil {
		return fmt.Errorf("route to Services: %w", err)
	}
	return enableForwarding()
}

func (n *Network) tableConfig() nat.Config {
	return nat.Config{
		Name: n.table(), Pods: n.PodCIDR(), Services: n.ServiceCIDR(),
		Bridge: n.bridge(), BridgeIP: n.BridgeIP(), LinkPrefix: n.linkPrefix(),
	}
}

// PodCIDR is the range of pod addresses.
func (n *Network) PodCIDR() netip.Prefix { return n.state.Pods }

// ServiceCIDR is the range of ClusterIPs.
func (n *Network) ServiceCIDR() netip.Prefix { return n.state.Services }

// BridgeIP is the machine's address as pods see it.
func (n *Network) BridgeIP() netip.Addr { return ranges.Nth(n.state.Pods, 1) }

// APIIP is the ClusterIP of the Service "kubernetes".
func (n *Network) APIIP() netip.Addr { return ranges.Nth(n.state.Services, apiIndex) }

// DNSIP is the ClusterIP of the DNS server.
func (n *Network) DNSIP() netip.Addr { return ranges.Nth(n.state.Services, dnsIndex) }

// Close removes the network from the kernel with all that is attached. The
// address ranges are kept for the next start.
func (n *Network) Close() error {
	n.host.Close()
	return n.purge()
}

// Purge removes the network of a data directory from the kernel, without the
// process that made it. It can be repeated.
func Purge(dataDir string) error {
	n, err := namesFor(dataDir)
	if err != nil {
		return fmt.Errorf("purge network: %w", err)
	}
	return n.purge()
}

// purge removes everything, the unreachable routes last: until then nothing that
// still runs can send a pod's packets out of the machine.
func (n names) purge() error {
	all, err := n.sandboxes()
	errs := []error{err}
	for id, ip := range all {
		errs = append(errs, n.removePod(id, ip))
	}
	errs = append(errs, n.removePins(), removeLinks(n), nat.Remove(n.table()))
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("remove network: %w", err)
	}
	if err := unblockRoutes(n); err != nil {
		return fmt.Errorf("remove network: %w", err)
	}
	return nil
}

// removePins removes namespaces without a record.
func (n names) removePins() error {
	files, err := os.ReadDir(n.file("netns"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	for _, f := range files {
		errs = append(errs, netns.Remove(n.netns(f.Name())))
	}
	return errors.Join(errs...)
}
