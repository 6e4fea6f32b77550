// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package standalone

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Addresses are where the parts of a standalone Weir meet. They are written to <data>/addresses.json, so that a controller
// or gateway of another process can take its place among them.
type Addresses struct {
	External netip.AddrPort `json:"external"` // requests from outside
	Internal netip.AddrPort `json:"internal"` // requests from pods, behind the Service weir-gateway-internal
	Drain    netip.AddrPort `json:"drain"`    // where preStop hooks wait; stands in pods, so it never changes
	Feed     netip.AddrPort `json:"feed"`     // controller, for gateways
	Webhook  netip.AddrPort `json:"webhook"`  // controller, for the API server; stands in it, so it seldom changes

	PodCIDR     netip.Prefix `json:"podCIDR"`
	ServiceCIDR netip.Prefix `json:"serviceCIDR"`
}

// drainPort is the same for all Weirs: each has a bridge address of its own.
const drainPort = 8022

// listeners are opened before anything starts, so that addresses are known and taken.
type listeners struct {
	external, internal, drain, feed, webhook net.Listener
}

// openListeners opens what the parts of this process need. Without the gateway or controller part, their listeners are
// opened to choose free ports, and closed again for the other process to bind.
func (w *Weir) openListeners(bridge netip.Addr) (err error) {
	l := &w.listeners
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	if l.external, err = w.cfg.listen(); err != nil {
		return err
	}
	if l.internal, err = net.Listen("tcp4", net.JoinHostPort(bridge.String(), "0")); err != nil {
		return fmt.Errorf("in-cluster listener of the gateway: %w", err)
	}
	if l.drain, err = net.Listen("tcp4", netip.AddrPortFrom(bridge, drainPort).String()); err != nil {
		return fmt.Errorf("drain listener of the gateway: %w", err)
	}
	if l.feed, err = net.Listen("tcp4", "127.0.0.1:0"); err != nil {
		return fmt.Errorf("feed listener: %w", err)
	}
	if l.webhook, err = w.listenAgain("webhook"); err != nil {
		return err
	}
	w.addresses = Addresses{
		External: addrPort(l.external),
		Internal: addrPort(l.internal),
		Drain:    addrPort(l.drain),
		Feed:     addrPort(l.feed),
		Webhook:  addrPort(l.webhook),

		PodCIDR:     w.network.PodCIDR(),
		ServiceCIDR: w.network.ServiceCIDR(),
	}
	if !w.cfg.has(PartGateway) {
		err = errors.Join(l.external.Close(), l.internal.Close(), l.drain.Close())
	}
	if !w.cfg.has(PartController) {
		err = errors.Join(err, l.feed.Close(), l.webhook.Close())
	}
	return errors.Join(err, w.writeAddresses())
}

// listenAgain binds the loopback port that this directory used last under a name, or a free one where that is taken.
func (w *Weir) listenAgain(name string) (net.Listener, error) {
	file := filepath.Join(w.cfg.DataDir, name+"-port")
	if raw, err := os.ReadFile(file); err == nil {
		if ln, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strings.TrimSpace(string(raw)))); err == nil {
			return ln, nil
		}
	}
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("%s listener: %w", name, err)
	}
	port := strconv.Itoa(int(addrPort(ln).Port()))
	return ln, os.WriteFile(file, []byte(port+"\n"), 0o600)
}

func (l *listeners) close() {
	for _, ln := range []net.Listener{l.external, l.internal, l.drain, l.feed, l.webhook} {
		if ln != nil {
			ln.Close()
		}
	}
}

func addrPort(ln net.Listener) netip.AddrPort {
	ap := ln.Addr().(*net.TCPAddr).AddrPort()
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
}

func (w *Weir) writeAddresses() error {
	raw, err := json.MarshalIndent(w.addresses, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(w.cfg.DataDir, "addresses.json"), append(raw, '\n'), 0o600)
}

// chooseDomain gives the domain asked for, else the one that this directory was last started with, and remembers it.
func (w *Weir) chooseDomain() (string, error) {
	file := filepath.Join(w.cfg.DataDir, "domain")
	w.domain = w.cfg.Domain
	if w.domain == "" {
		raw, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if w.domain = strings.TrimSpace(string(raw)); w.domain == "" {
			w.domain = defaultDomain
		}
	}
	return w.domain, os.WriteFile(file, []byte(w.domain+"\n"), 0o600)
}
