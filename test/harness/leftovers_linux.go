// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Footprint is what a machine has of things that a Weir makes in the kernel.
type Footprint struct {
	Interfaces, Mounts, Tables, Routes, Cgroups, Processes []string
}

// TakeFootprint lists what the machine has now. Processes are those that name the data directory.
func TakeFootprint(dataDir string) (Footprint, error) {
	var f Footprint
	links, err := net.Interfaces()
	if err != nil {
		return f, fmt.Errorf("list interfaces: %w", err)
	}
	for _, l := range links {
		f.Interfaces = append(f.Interfaces, l.Name)
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return f, err
	}
	f.Mounts = lines(mounts)
	if f.Tables, err = output("nft", "list", "tables"); err != nil {
		return f, err
	}
	if f.Routes, err = output("ip", "-4", "route", "show", "table", "all"); err != nil {
		return f, err
	}
	if f.Cgroups, err = cgroups(); err != nil {
		return f, err
	}
	f.Processes, err = processesNaming(dataDir)
	return f, err
}

// Beyond lists what f has and before had not.
func (f Footprint) Beyond(before Footprint) []string {
	var extra []string
	add := func(kind string, now, then []string) {
		for _, x := range now {
			if !slices.Contains(then, x) {
				extra = append(extra, kind+" "+x)
			}
		}
	}
	add("interface", f.Interfaces, before.Interfaces)
	add("mount", f.Mounts, before.Mounts)
	add("table", f.Tables, before.Tables)
	add("route", f.Routes, before.Routes)
	add("cgroup", f.Cgroups, before.Cgroups)
	add("process", f.Processes, before.Processes)
	return extra
}

// cgroups lists Weir's top cgroups, of the one hierarchy (v2) or of each (v1).
func cgroups() ([]string, error) {
	unified, err := filepath.Glob("/sys/fs/cgroup/weir-*")
	if err != nil {
		return nil, err
	}
	each, err := filepath.Glob("/sys/fs/cgroup/*/weir-*")
	return append(unified, each...), err
}

func output(name string, args ...string) ([]string, error) {
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return lines(out), nil
}

func lines(raw []byte) []string {
	var out []string
	for l := range strings.Lines(string(raw)) {
		out = append(out, strings.TrimSpace(l))
	}
	return out
}

func processesNaming(dataDir string) ([]string, error) {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return nil, err
	}
	var found []string
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil || filepath.Dir(f) == fmt.Sprintf("/proc/%d", os.Getpid()) {
			continue // ended meanwhile, or ourselves
		}
		if line := string(bytes.ReplaceAll(raw, []byte{0}, []byte{' '})); strings.Contains(line, dataDir) {
			found = append(found, strings.TrimPrefix(filepath.Dir(f), "/proc/")+" "+line)
		}
	}
	return found, nil
}
