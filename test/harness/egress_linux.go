// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Egress counts packets between a Weir's own address ranges and anything beyond the machine's default interface. There must be
// none: an address that nobody translates would be somebody else's.
type Egress struct {
	table string
}

// WatchEgress starts to count for the Weir of a data directory. On a machine without a default route nothing can leave.
func WatchEgress(dataDir string) (*Egress, error) {
	device, err := defaultDevice()
	if err != nil || device == "" {
		return &Egress{}, err
	}
	raw, err := os.ReadFile(filepath.Join(dataDir, "addresses.json"))
	if err != nil {
		return nil, err
	}
	var ranges struct{ PodCIDR, ServiceCIDR netip.Prefix }
	if err := json.Unmarshal(raw, &ranges); err != nil {
		return nil, fmt.Errorf("addresses.json: %w", err)
	}
	e := &Egress{table: fmt.Sprintf("weir_test_%d", os.Getpid())}
	// Before source translation (priority srcnat), so that a pod's own address is seen.
	rules := fmt.Sprintf(`table ip %[1]s {
	set own { type ipv4_addr; flags interval; elements = { %[2]s, %[3]s } }
	counter left { }
	chain out {
		type filter hook postrouting priority srcnat - 10;
		oifname %[4]q ip saddr @own counter name left
		oifname %[4]q ip daddr @own counter name left
	}
	chain in {
		type filter hook prerouting priority raw;
		iifname %[4]q ip saddr @own counter name left
		iifname %[4]q ip daddr @own counter name left
	}
}`, e.table, ranges.PodCIDR.Masked(), ranges.ServiceCIDR.Masked(), device)
	cmd := exec.Command("nft", "-f", "-")
	cmd.Stdin = strings.NewReader(rules)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("count packets that leave: %w: %s", err, out)
	}
	return e, nil
}

// Close stops counting; it is an error if a packet was counted.
func (e *Egress) Close() error {
	if e.table == "" {
		return nil
	}
	out, err := exec.Command("nft", "list", "counter", "ip", e.table, "left").Output()
	if err != nil {
		err = fmt.Errorf("read the counter of packets that left: %w", err)
	} else if !strings.Contains(string(out), "packets 0 ") {
		err = fmt.Errorf("packets left the machine: %s", strings.Join(strings.Fields(string(out)), " "))
	}
	return errors.Join(err, exec.Command("nft", "delete", "table", "ip", e.table).Run())
}

// defaultDevice is the interface of the default route, "" where there is none.
func defaultDevice() (string, error) {
	routes, err := output("ip", "-4", "route", "show", "default")
	if err != nil {
		return "", err
	}
	for _, r := range routes {
		fields := strings.Fields(r)
		for i, f := range fields {
			if f == "dev" && i+1 < len(fields) {
				return fields[i+1], nil
			}
		}
	}
	return "", nil
}
