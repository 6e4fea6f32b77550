// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/nftables"
	"github.com/vishvananda/netlink"

	"weir.dev/embedded/network/netns"
)

// hang is how long a test waits for what should come at once.
const hang = 20 * time.Second

// newNetwork makes a network in the machine's kernel and removes it at the end.
func newNetwork(t testing.TB) *Network {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("networks need root")
	}
	return openNetwork(t, filepath.Join(t.TempDir(), "weir"))
}

func openNetwork(t testing.TB, dir string) *Network {
	t.Helper()
	n, err := New(Config{DataDir: dir})
	t.Cleanup(func() {
		if err := Purge(dir); err != nil {
			t.Error(err)
		}
		if left := leftovers(t, dir); len(left) != 0 {
			t.Errorf("left after the purge: %v", left)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// leftovers lists what the kernel still has of a data directory.
func leftovers(t testing.TB, dir string) []string {
	t.Helper()
	n, err := namesFor(dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	links, err := netlink.LinkList()
	for _, l := range links {
		if strings.Contains(l.Attrs().Name, n.hex()) {
			left = append(left, "interface "+l.Attrs().Name)
		}
	}
	routes, rerr := netlink.RouteList(nil, netlink.FAMILY_V4)
	for _, r := range routes {
		if r.Priority == n.metric() {
			left = append(left, "route "+r.String())
		}
	}
	tables, terr := (&nftables.Conn{}).ListTables()
	for _, table := range tables {
		if strings.Contains(table.Name, n.hex()) {
			left = append(left, "table "+table.Name)
		}
	}
	mounts, merr := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, n.dir) {
			left = append(left, "mount "+line)
		}
	}
	if err := errors.Join(err, rerr, terr, merr); err != nil {
		t.Fatal(err)
	}
	return left
}

func attach(t testing.TB, n *Network, id string) Attachment {
	t.Helper()
	at, err := n.Attach(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// in calls f on a thread in the pod's namespace.
func in(t testing.TB, at Attachment, f func() error) {
	t.Helper()
	if err := netns.Do(at.NetNS, f); err != nil {
		t.Fatal(err)
	}
}

// serve answers TCP connections in a pod with its name and the client's address.
// It returns the port.
func serve(t testing.TB, at Attachment, name string) uint16 {
	t.Helper()
	var ln net.Listener
	in(t, at, func() (err error) {
		ln, err = net.Listen("tcp4", ":0")
		return err
	})
	return answer(t, ln, name)
}

func answer(t testing.TB, ln net.Listener, name string) uint16 {
	t.Helper()
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			client, _, _ := net.SplitHostPort(conn.RemoteAddr().String())
			_, _ = fmt.Fprintf(conn, "%s to %s", name, client)
			_ = conn.Close()
		}
	}()
	return ln.Addr().(*net.TCPAddr).AddrPort().Port()
}

// call reads what a server says to the calling thread's network.
func call(to netip.AddrPort) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp4", to.String())
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(hang))
	said, err := io.ReadAll(conn)
	return string(said), err
}

// callFrom calls from a pod.
func callFrom(t testing.TB, at Attachment, to netip.AddrPort) (said string, err error) {
	t.Helper()
	in(t, at, func() error {
		said, err = call(to)
		return nil
	})
	return said, err
}
