// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"weir.dev/embedded/network/netns"
)

func TestPodsReachEachOtherAndTheMachine(t *testing.T) {
	n := newNetwork(t)
	a, b := attach(t, n, "a"), attach(t, n, "b")
	toB := netip.AddrPortFrom(b.IP, serve(t, b, "b"))
	if said, err := callFrom(t, a, toB); err != nil || said != "b to "+a.IP.String() {
		t.Errorf("a calls b: %q, %v", said, err)
	}
	if said, err := call(toB); err != nil || said != "b to "+n.BridgeIP().String() {
		t.Errorf("the machine calls b: %q, %v", said, err)
	}
	ln, err := net.Listen("tcp4", net.JoinHostPort(n.BridgeIP().String(), "0"))
	if err != nil {
		t.Fatal(err)
	}
	toHost := netip.AddrPortFrom(n.BridgeIP(), answer(t, ln, "host"))
	if said, err := callFrom(t, a, toHost); err != nil || said != "host to "+a.IP.String() {
		t.Errorf("a calls the machine: %q, %v", said, err)
	}
}

func TestPodHasWhatProgramsExpect(t *testing.T) {
	n := newNetwork(t)
	at := attach(t, n, "a")
	in(t, at, func() error {
		for _, addr := range []string{"127.0.0.1:0", "[::1]:0", "[::]:0"} {
			ln, err := net.Listen("tcp", addr)
			if err != nil {
				return fmt.Errorf("listen on loopback: %w", err)
			}
			if err := ln.Close(); err != nil {
				return err
			}
		}
		link, err := net.InterfaceByName("eth0")
		if err != nil {
			return err
		}
		addrs, err := link.Addrs()
		if err != nil || len(addrs) != 1 || addrs[0].String() != at.IP.String()+"/32" || link.MTU != n.mtu {
			t.Errorf("eth0 has %v and MTU %d, %v; want %s alone and MTU %d", addrs, link.MTU, err, at.IP, n.mtu)
		}
		low, err := os.ReadFile("/proc/sys/net/ipv4/ip_unprivileged_port_start")
		if err != nil || string(low) != "0\n" {
			t.Errorf("lowest port for everybody: %q, %v", low, err)
		}
		return nil
	})
}

func TestAddressWithoutPodIsUnreachableAtOnce(t *testing.T) {
	n := newNetwork(t)
	a, gone := attach(t, n, "a"), attach(t, n, "gone")
	if err := n.Detach(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	to := netip.AddrPortFrom(gone.IP, 80)
	for who, err := range map[string]error{"machine": second(call(to)), "pod": second(callFrom(t, a, to))} {
		if !errors.Is(err, syscall.EHOSTUNREACH) {
			t.Errorf("the %s calls an address without a pod: %v", who, err)
		}
	}
	if took := time.Since(begin); took > hang/2 {
		t.Errorf("it took %v", took)
	}
}

func second(_ string, err error) error { return err }

func TestPodCannotUseAnothersAddress(t *testing.T) {
	n := newNetwork(t)
	a, b, victim := attach(t, n, "a"), attach(t, n, "b"), attach(t, n, "victim")
	var conn net.PacketConn
	in(t, b, func() (err error) {
		conn, err = net.ListenPacket("udp4", ":0")
		return err
	})
	defer func() { _ = conn.Close() }()
	to := conn.LocalAddr().(*net.UDPAddr)
	to.IP = b.IP.AsSlice()
	in(t, a, func() error {
		link, err := netlink.LinkByName("eth0")
		if err != nil {
			return err
		}
		return netlink.AddrAdd(link, &netlink.Addr{IPNet: single(victim.IP)})
	})
	for _, from := range []netip.Addr{victim.IP, a.IP} {
		in(t, a, func() error {
			c, err := net.DialUDP("udp4", &net.UDPAddr{IP: from.AsSlice()}, to)
			if err != nil {
				return err
			}
			_, err = c.Write([]byte(from.String()))
			return errors.Join(err, c.Close())
		})
	}
	buf := make([]byte, 100)
	_ = conn.SetReadDeadline(time.Now().Add(hang))
	size, _, err := conn.ReadFrom(buf)
	if got := string(buf[:size]); err != nil || got != a.IP.String() {
		t.Errorf("b received %q, %v; want only what a sent as itself", got, err)
	}
}

func TestAttachAgain(t *testing.T) {
	n := newNetwork(t)
	first := attach(t, n, "a")
	if again := attach(t, n, "a"); again != first {
		t.Errorf("second Attach gave %v, first %v", again, first)
	}
	restarted, err := New(Config{DataDir: n.dir})
	if err != nil {
		t.Fatal(err)
	}
	if restarted.PodCIDR() != n.PodCIDR() || restarted.ServiceCIDR() != n.ServiceCIDR() {
		t.Errorf("ranges changed from %v to %v", n.state.Plan, restarted.state.Plan)
	}
	if again := attach(t, restarted, "a"); again != first {
		t.Errorf("Attach after a restart gave %v, want %v", again, first)
	}
	if other := attach(t, restarted, "b"); other.IP == first.IP {
		t.Error("an address in use was handed out after the restart")
	}
	if got, err := restarted.Sandboxes(); err != nil || fmt.Sprint(got) != "[a b]" {
		t.Errorf("Sandboxes() = %v, %v", got, err)
	}
}

// TestAttachRepairs breaks a sandbox as crashes, reboots and people do.
func TestAttachRepairs(t *testing.T) {
	tests := map[string]func(*Network, Attachment) error{
		"pin gone":       func(_ *Network, at Attachment) error { return netns.Remove(at.NetNS) },
		"interface gone": func(n *Network, at Attachment) error { return removeByName(n.link(at.IP)) },
		"all but record": func(n *Network, at Attachment) error {
			return errors.Join(removeByName(n.link(at.IP)), netns.Remove(at.NetNS))
		},
		"pin is a file": func(_ *Network, at Attachment) error {
			return errors.Join(netns.Remove(at.NetNS), os.WriteFile(at.NetNS, nil, 0o600))
		},
	}
	for name, damage := range tests {
		t.Run(name, func(t *testing.T) {
			n := newNetwork(t)
			if err := damage(n, attach(t, n, "a")); err != nil {
				t.Fatal(err)
			}
			at := attach(t, n, "a")
			if said, err := call(netip.AddrPortFrom(at.IP, serve(t, at, "a"))); err != nil {
				t.Errorf("call after the repair: %q, %v", said, err)
			}
		})
	}
}

func removeByName(name string) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return err
	}
	return netlink.LinkDel(link)
}

func TestDetach(t *testing.T) {
	n := newNetwork(t)
	at := attach(t, n, "a")
	for range 2 { // The second is no error.
		if err := n.Detach(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(at.NetNS); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the pin is left: %v", err)
	}
	if got, err := n.Sandboxes(); err != nil || len(got) != 0 {
		t.Errorf("Sandboxes() = %v, %v", got, err)
	}
	for _, id := range []string{"", "../x", "a/b", ".", "a b"} {
		if _, err := n.Attach(t.Context(), id); err == nil {
			t.Errorf("id %q is accepted", id)
		}
	}
}

func TestManyAtOnce(t *testing.T) {
	n := newNetwork(t)
	var mu sync.Mutex
	seen := map[netip.Addr]string{}
	var wg sync.WaitGroup
	for i := range 30 {
		wg.Go(func() {
			id := fmt.Sprintf("pod-%d", i%15) // Two callers a pod.
			at, err := n.Attach(t.Context(), id)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if other, ok := seen[at.IP]; ok && other != id {
				t.Errorf("%s and %s have the address %s", id, other, at.IP)
			}
			seen[at.IP] = id
		})
	}
	wg.Wait()
	if len(seen) != 15 {
		t.Errorf("%d addresses for 15 pods", len(seen))
	}
}

func TestTwoNetworksSideBySide(t *testing.T) {
	one, two := newNetwork(t), newNetwork(t)
	if _, conflict := one.state.Conflict([]netip.Prefix{two.PodCIDR(), two.ServiceCIDR()}); conflict {
		t.Fatalf("the ranges overlap: %v and %v", one.state.Plan, two.state.Plan)
	}
	a, b := attach(t, one, "a"), attach(t, two, "a")
	to := netip.AddrPortFrom(b.IP, serve(t, b, "b"))
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
	if left := leftovers(t, one.dir); len(left) != 0 {
		t.Errorf("left after Close: %v", left)
	}
	if said, err := call(to); err != nil {
		t.Errorf("the second network after the first was closed: %q, %v", said, err)
	}
	_ = a
}

func TestRangesOfAnotherAreRefused(t *testing.T) {
	n := newNetwork(t)
	dir := filepath.Join(t.TempDir(), "copy")
	names, err := namesFor(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(names.file(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := names.writeState(n.state); err != nil { // As in a copied data directory.
		t.Fatal(err)
	}
	if _, err := New(Config{DataDir: dir}); err == nil {
		t.Error("two networks have the same ranges")
	}
	if left := leftovers(t, dir); len(left) != 0 {
		t.Errorf("left after the refusal: %v", left)
	}
}

func TestPurgeAfterACrash(t *testing.T) {
	n := newNetwork(t)
	attach(t, n, "a")
	// The directory's records may be gone too.
	if err := os.RemoveAll(n.file("sandboxes")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(n.file("state.json")); err != nil {
		t.Fatal(err)
	}
	if err := Purge(n.dir); err != nil {
		t.Fatal(err)
	}
	for _, left := range leftovers(t, n.dir) {
		t.Error(left)
	}
}

func BenchmarkAttachDetach(b *testing.B) {
	n := newNetwork(b)
	var attach, detach time.Duration
	for i := 0; b.Loop(); i++ {
		id, begin := fmt.Sprintf("pod-%d", i), time.Now()
		if _, err := n.Attach(b.Context(), id); err != nil {
			b.Fatal(err)
		}
		attach += time.Since(begin)
		begin = time.Now()
		if err := n.Detach(b.Context(), id); err != nil {
			b.Fatal(err)
		}
		detach += time.Since(begin)
	}
	b.ReportMetric(float64(attach.Microseconds())/float64(b.N), "µs/attach")
	b.ReportMetric(float64(detach.Microseconds())/float64(b.N), "µs/detach")
}
