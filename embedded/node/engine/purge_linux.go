// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"weir.dev/embedded/node/cgroup"
	"weir.dev/embedded/node/sandbox"
)

// Purge kills everything that runs below dir and removes every trace of it but
// the network's, which has its own. No engine may be running in dir.
func Purge(ctx context.Context, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("resolve engine directory: %w", err)
	}
	if err := cgroup.Remove(ctx, cgroupRoot(dir)); err != nil {
		return err
	}
	if err := awaitMonitors(ctx, dir); err != nil {
		return err
	}
	if err := sandbox.UnmountBelow(dir); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove engine directory: %w", err)
	}
	return nil
}

// awaitMonitors waits for the monitors of dead containers, which end by
// themselves, and kills those that do not.
func awaitMonitors(ctx context.Context, dir string) error {
	patience := time.Now().Add(2 * time.Second)
	for {
		pids, err := monitors(dir)
		if err != nil || len(pids) == 0 {
			return err
		}
		if time.Now().After(patience) {
			for _, pid := range pids {
				_ = unix.Kill(pid, unix.SIGKILL)
			}
		}
		timer := time.NewTimer(5 * time.Millisecond)
		select {
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("wait for container monitors to end: %w", ctx.Err())
		case <-timer.C:
		}
	}
}

// monitors lists the processes whose arguments name a bundle below dir.
func monitors(dir string) ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var pids []int
	argument := []byte("\x00--bundle\x00" + sandboxesDir(dir) + "/")
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		cmdline, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline"))
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH) {
			continue
		}
		if err == nil && bytes.Contains(cmdline, argument) {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}
