// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package cgroup makes, limits, empties and removes the cgroups around pods,
// with cgroup v1 (one tree a controller, hybrid or not) and v2 (one tree).
// It knows paths and numbers, no pods.
package cgroup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/opencontainers/cgroups"
	"github.com/opencontainers/cgroups/manager"
	"golang.org/x/sys/unix"
)

const mountPoint = "/sys/fs/cgroup"

// Limits are the numbers of a cgroup; 0 leaves the kernel's default.
type Limits struct {
	// Shares is the relative weight of CPU time, 1024 for one core.
	Shares uint64
	// Quota is the CPU time in microseconds allowed in each Period.
	Quota  int64
	Period uint64
	// Memory is in bytes, Pids in processes and threads.
	Memory int64
	Pids   int64
}

// V2 says that the unified hierarchy is the machine's only one.
func V2() bool { return cgroups.IsCgroup2UnifiedMode() }

// SwapAccounting says that swap can be limited.
func SwapAccounting() bool {
	if V2() {
		return true
	}
	_, err := os.Stat(filepath.Join(mountPoint, "memory", "memory.memsw.limit_in_bytes"))
	return err == nil
}

// Create makes the cgroup at path (below the root of every hierarchy) and sets
// its limits. It can be repeated.
func Create(path string, limits Limits) error {
	config := &cgroups.Cgroup{
		Path: path,
		Resources: &cgroups.Resources{
			CpuShares:   limits.Shares,
			CpuWeight:   cgroups.ConvertCPUSharesToCgroupV2Value(limits.Shares),
			CpuQuota:    limits.Quota,
			CpuPeriod:   limits.Period,
			Memory:      limits.Memory,
			SkipDevices: true,
		},
	}
	if limits.Pids > 0 {
		config.PidsLimit = &limits.Pids
	}
	control, err := manager.New(config)
	if err != nil {
		return fmt.Errorf("prepare cgroup %s: %w", path, err)
	}
	const nobody = -1
	if err := control.Apply(nobody); err != nil {
		return fmt.Errorf("make cgroup %s: %w", path, err)
	}
	if err := control.Set(config.Resources); err != nil {
		return fmt.Errorf("limit cgroup %s: %w", path, err)
	}
	return nil
}

// Remove kills every process in the cgroup and below it and removes the tree.
// A cgroup that does not exist is no error.
func Remove(ctx context.Context, path string) error {
	for {
		alive, err := killAll(path)
		if err != nil {
			return err
		}
		if !alive {
			err = removeAll(path)
			if err == nil || !errors.Is(err, unix.EBUSY) {
				return err
			}
		}
		// The kernel says nothing when the last process of a v1 cgroup is
		// gone, so look again.
		timer := time.NewTimer(2 * time.Millisecond)
		select {
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("remove cgroup %s: %w", path, ctx.Err())
		case <-timer.C:
		}
	}
}

// Prune removes the cgroup and those below it as far as they are empty.
func Prune(path string) error {
	err := removeAll(path)
	if errors.Is(err, unix.EBUSY) {
		return nil
	}
	return err
}

// trees are the cgroup's directories in all hierarchies.
func trees(path string) []string {
	if V2() {
		return existing(filepath.Join(mountPoint, path))
	}
	entries, err := os.ReadDir(mountPoint)
	if err != nil {
		return nil
	}
	var dirs []string
	for _, entry := range entries {
		// Links such as cpu -> cpu,cpuacct name the same tree once more.
		if entry.IsDir() {
			dirs = append(dirs, existing(filepath.Join(mountPoint, entry.Name(), path))...)
		}
	}
	return dirs
}

func existing(dir string) []string {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil
	}
	return []string{dir}
}

func killAll(path string) (alive bool, err error) {
	self := os.Getpid()
	for _, tree := range trees(path) {
		err := filepath.WalkDir(tree, func(dir string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.IsDir() {
				return ignoreGone(err)
			}
			for _, pid := range pids(dir) {
				if pid == self {
					return fmt.Errorf("cgroup %s holds this very process", path)
				}
				alive = true
				_ = unix.Kill(pid, unix.SIGKILL)
			}
			return nil
		})
		if err != nil {
			return alive, fmt.Errorf("empty cgroup %s: %w", path, err)
		}
	}
	return alive, nil
}

func pids(dir string) []int {
	data, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return nil
	}
	var list []int
	for line := range strings.Lines(string(data)) {
		if pid, err := strconv.Atoi(strings.TrimSpace(line)); err == nil && pid > 0 {
			list = append(list, pid)
		}
	}
	return list
}

func removeAll(path string) error {
	for _, tree := range trees(path) {
		var dirs []string
		err := filepath.WalkDir(tree, func(dir string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				dirs = append(dirs, dir)
			}
			return ignoreGone(err)
		})
		if err != nil {
			return fmt.Errorf("remove cgroup %s: %w", path, err)
		}
		for i := len(dirs) - 1; i >= 0; i-- {
			if err := unix.Rmdir(dirs[i]); err != nil && !errors.Is(err, unix.ENOENT) {
				return fmt.Errorf("remove cgroup %s: %w", dirs[i], err)
			}
		}
	}
	return nil
}

func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENODEV) {
		return nil
	}
	return err
}
