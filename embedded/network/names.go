// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
)

// names are what everything in the kernel is called, from the data directory
// alone: so that several Weirs run side by side, and each can be cleaned up after
// without anything that it wrote.
type names struct {
	dir  string
	hash [3]byte
}

func namesFor(dataDir string) (names, error) {
	dir, err := filepath.Abs(dataDir)
	if err != nil {
		return names{}, err
	}
	// The same directory by another way is the same directory.
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	} else if !errors.Is(err, os.ErrNotExist) {
		return names{}, err
	}
	sum := sha256.Sum256([]byte(dir))
	return names{dir: dir, hash: [3]byte(sum[:])}, nil
}

func (n names) hex() string { return hex.EncodeToString(n.hash[:]) }

// bridge is the interface with the machine's own pod address.
func (n names) bridge() string { return "weir-" + n.hex() }

// table is the nftables table.
func (n names) table() string { return "weir_" + n.hex() }

// linkPrefix starts the names of pods' interfaces on the machine.
func (n names) linkPrefix() string { return "w" + n.hex() }

// link is a pod's interface on the machine: 15 characters, the kernel's limit.
func (n names) link(ip netip.Addr) string {
	return n.linkPrefix() + hex.EncodeToString(ip.AsSlice())
}

// seed spreads what different data directories choose.
func (n names) seed() uint32 { return binary.BigEndian.Uint32(append([]byte{0}, n.hash[:]...)) }

// metric marks unreachable routes as ours, and lets any other route win.
func (n names) metric() int { return 0x57<<24 | int(n.seed()) }

// files of the network below the data directory.
func (n names) file(elem ...string) string {
	return filepath.Join(append([]string{n.dir, "network"}, elem...)...)
}

func (n names) netns(id string) string   { return n.file("netns", id) }
func (n names) sandbox(id string) string { return n.file("sandboxes", id) }

var idPattern = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,127}$`)

func checkID(id string) error {
	if !idPattern.MatchString(id) {
		return fmt.Errorf("bad sandbox id %q", id)
	}
	return nil
}
