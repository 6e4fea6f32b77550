// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package nodetest

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Network gives every sandbox a network namespace and a pair of addresses of
// its own, in the range for benchmarks (RFC 2544), which nobody else uses.
type Network struct {
	dir string

	mu    sync.Mutex
	known map[string]int
}

// NewNetwork makes a network that is removed when the test ends.
func NewNetwork(t testing.TB) *Network {
	t.Helper()
	n := &Network{dir: t.TempDir(), known: map[string]int{}}
	t.Cleanup(func() {
		ids, _ := n.Sandboxes()
		for _, id := range ids {
			if err := n.Detach(context.Background(), id); err != nil {
				t.Errorf("clean up network of %s: %v", id, err)
			}
		}
	})
	return n
}

// Attach implements sandbox.Network.
func (n *Network) Attach(_ context.Context, id string) (string, netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	path := filepath.Join(n.dir, id)
	if number, ok := n.known[id]; ok {
		return path, address(number, 2), nil
	}
	number := len(n.known)
	n.known[id] = number
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return "", netip.Addr{}, err
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		done <- makeNamespace(path, number)
	}()
	if err := <-done; err != nil {
		return "", netip.Addr{}, err
	}
	return path, address(number, 2), up(hostEnd(number), address(number, 1))
}

// makeNamespace runs on a thread that ends with it.
func makeNamespace(path string, number int) error {
	host, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return err
	}
	defer host.Close()
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return err
	}
	if err := unix.Mount("/proc/thread-self/ns/net", path, "", unix.MS_BIND, ""); err != nil {
		return err
	}
	loopback, err := netlink.LinkByName("lo")
	if err != nil {
		return err
	}
	if err := netlink.LinkSetUp(loopback); err != nil {
		return err
	}
	attributes := netlink.NewLinkAttrs()
	attributes.Name = "eth0"
	pair := &netlink.Veth{LinkAttrs: attributes, PeerName: hostEnd(number), PeerNamespace: netlink.NsFd(host.Fd())}
	if err := netlink.LinkAdd(pair); err != nil {
		return fmt.Errorf("make veth pair: %w", err)
	}
	return up("eth0", address(number, 2))
}

func up(name string, ip netip.Addr) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return fmt.Errorf("find %s: %w", name, err)
	}
	network := &net.IPNet{IP: ip.AsSlice(), Mask: net.CIDRMask(30, 32)}
	if err := netlink.AddrAdd(link, &netlink.Addr{IPNet: network}); err != nil {
		return fmt.Errorf("give %s its address: %w", name, err)
	}
	return netlink.LinkSetUp(link)
}

// Several test processes may run at once.
func hostEnd(number int) string { return fmt.Sprintf("wt%d-%d", os.Getpid()%1_000_000, number) }

func address(number, end int) netip.Addr {
	block := (os.Getpid()%1000)*32 + number%32
	return netip.AddrFrom4([4]byte{198, byte(18 + block>>14&1), byte(block >> 6), byte(block<<2 | end)})
}

// Detach implements sandbox.Network.
func (n *Network) Detach(_ context.Context, id string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	path := filepath.Join(n.dir, id)
	if number, ok := n.known[id]; ok {
		if link, err := netlink.LinkByName(hostEnd(number)); err == nil {
			if err := netlink.LinkDel(link); err != nil {
				return err
			}
		}
	}
	_ = unix.Unmount(path, unix.MNT_DETACH)
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

// Sandboxes implements sandbox.Network.
func (n *Network) Sandboxes() ([]string, error) {
	entries, err := os.ReadDir(n.dir)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, entry := range entries {
		ids = append(ids, entry.Name())
	}
	return ids, nil
}
