// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"

	"weir.dev/embedded/network/ranges"
)

// state is what must be the same after a restart: stored objects carry addresses
// of these ranges.
type state struct {
	ranges.Plan
	// DNSPort is where DNS last listened; open flows go on to use it.
	DNSPort uint16 `json:"dnsPort,omitempty"`
}

// readState returns false if there is none yet.
func (n names) readState() (state, bool, error) {
	raw, err := os.ReadFile(n.file("state.json"))
	if errors.Is(err, os.ErrNotExist) {
		return state{}, false, nil
	}
	if err != nil {
		return state{}, false, fmt.Errorf("read network state: %w", err)
	}
	var s state
	if err := json.Unmarshal(raw, &s); err != nil || !s.Pods.IsValid() || !s.Services.IsValid() {
		return state{}, false, fmt.Errorf("network state %s is damaged: %w", n.file("state.json"), err)
	}
	return s, true, nil
}

func (n names) writeState(s state) error {
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("write network state: %w", err)
	}
	return n.write(n.file("state.json"), raw)
}

// write replaces a file in one step.
func (n names) write(path string, data []byte) error {
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return fmt.Errorf("write network state: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("write network state: %w", err)
	}
	return nil
}

// sandboxes lists recorded sandboxes and their addresses. A record is written
// before anything is made for it, so what is not listed does not exist.
func (n names) sandboxes() (map[string]netip.Addr, error) {
	files, err := os.ReadDir(n.file("sandboxes"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list sandboxes: %w", err)
	}
	all := map[string]netip.Addr{}
	for _, f := range files {
		id := f.Name()
		if strings.HasSuffix(id, ".new") {
			continue // A write that was cut off.
		}
		ip, err := n.readSandbox(id)
		if err != nil {
			return nil, err
		}
		all[id] = ip
	}
	return all, nil
}

// readSandbox returns the zero address if the sandbox is not known.
func (n names) readSandbox(id string) (netip.Addr, error) {
	raw, err := os.ReadFile(n.sandbox(id))
	if errors.Is(err, os.ErrNotExist) {
		return netip.Addr{}, nil
	}
	if err != nil {
		return netip.Addr{}, fmt.Errorf("read sandbox: %w", err)
	}
	ip, err := netip.ParseAddr(strings.TrimSpace(string(raw)))
	if err != nil {
		return netip.Addr{}, fmt.Errorf("sandbox record %s is damaged: %w", n.sandbox(id), err)
	}
	return ip, nil
}
