// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/fake"

	"weir.dev/embedded/network/netns"
)

// outside is a machine beside this one: a namespace on a cable of its own.
type outside struct {
	pin        string
	here, away netip.Addr
}

// newOutside uses addresses of documentation (RFC 5737), which exist nowhere.
func newOutside(t *testing.T) outside {
	t.Helper()
	o := outside{
		pin:  filepath.Join(t.TempDir(), "outside"),
		here: netip.MustParseAddr("203.0.113.1"), away: netip.MustParseAddr("203.0.113.2"),
	}
	const link = "weirtest-out"
	t.Cleanup(func() {
		if err := errors.Join(removeByName(link), netns.Remove(o.pin)); err != nil {
			t.Error(err)
		}
	})
	err := netns.New(o.pin, func(ns *os.File) error {
		h, err := netlink.NewHandle()
		if err != nil {
			return err
		}
		defer h.Close()
		attrs := netlink.NewLinkAttrs()
		attrs.Name, attrs.Flags = "cable", net.FlagUp
		return h.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: link, PeerNamespace: netlink.NsPid(os.Getpid())})
	})
	if err != nil {
		t.Fatal(err)
	}
	plug := func(name string, ip netip.Addr) error {
		l, err := netlink.LinkByName(name)
		if err != nil {
			return err
		}
		return errors.Join(netlink.AddrAdd(l, &netlink.Addr{IPNet: &net.IPNet{IP: ip.AsSlice(), Mask: net.CIDRMask(24, 32)}}), netlink.LinkSetUp(l))
	}
	if err := plug(link, o.here); err != nil {
		t.Fatal(err)
	}
	if err := netns.Do(o.pin, func() error {
		if err := plug("cable", o.away); err != nil {
			return err
		}
		return netlink.RouteAdd(&netlink.Route{Gw: o.here.AsSlice()})
	}); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestPodsGoOutMasqueraded(t *testing.T) {
	n := newNetwork(t)
	o := newOutside(t)
	a := attach(t, n, "a")
	at := Attachment{NetNS: o.pin, IP: o.away}
	to := netip.AddrPortFrom(o.away, serve(t, at, "outside"))
	if said, err := callFrom(t, a, to); err != nil || said != "outside to "+o.here.String() {
		t.Errorf("a pod calls outside: %q, %v; want it to come from %s", said, err, o.here)
	}
}

func TestServiceWithAnEndpointOutside(t *testing.T) {
	n, client := newNetwork(t), fake.NewClientset()
	o := newOutside(t)
	a := attach(t, n, "a")
	port := serve(t, Attachment{NetNS: o.pin, IP: o.away}, "outside")
	publish(t, client, "db", service(n, 0), corev1.ProtocolTCP, 80, netip.AddrPortFrom(o.away, port))
	start(t, n, client, RunOptions{})
	to := netip.AddrPortFrom(service(n, 0), 80)
	eventually(t, func() error { return second(callFrom(t, a, to)) })
	for who, said := range map[string]string{"pod": first(callFrom(t, a, to)), "machine": first(call(to))} {
		if said != "outside to "+o.here.String() {
			t.Errorf("the %s hears %q", who, said)
		}
	}
	if got := leaks(t, n); got != 0 {
		t.Errorf("%d packets would have left with a pod's address", got)
	}
}

func TestOthersDoNotComeIn(t *testing.T) {
	n, client := newNetwork(t), fake.NewClientset()
	o := newOutside(t)
	b := attach(t, n, "b")
	port := serve(t, b, "b")
	publish(t, client, "web", service(n, 0), corev1.ProtocolTCP, 80, netip.AddrPortFrom(b.IP, port))
	ln, err := net.Listen("tcp4", net.JoinHostPort(n.BridgeIP().String(), "0"))
	if err != nil {
		t.Fatal(err)
	}
	hostPort := answer(t, ln, "host")
	start(t, n, client, RunOptions{})
	eventually(t, func() error { return second(call(netip.AddrPortFrom(service(n, 0), 80))) })
	for name, to := range map[string]netip.AddrPort{
		"a pod":           netip.AddrPortFrom(b.IP, port),
		"a Service":       netip.AddrPortFrom(service(n, 0), 80),
		"the pod address": netip.AddrPortFrom(n.BridgeIP(), hostPort),
	} {
		err := netns.Do(o.pin, func() error {
			conn, err := net.DialTimeout("tcp4", to.String(), 300*time.Millisecond)
			if err == nil {
				_ = conn.Close()
			}
			return err
		})
		if err == nil || !strings.Contains(err.Error(), "timeout") {
			t.Errorf("from outside %s: %v; want silence", name, err)
		}
	}
}
