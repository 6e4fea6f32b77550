// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package claim makes a data directory the property of one process at a time.
package claim

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrInUse is returned where another process works on the same data directory.
var ErrInUse = errors.New("data directory is in use")

// Take claims the data directory for this process until release. The kernel drops the claim when the process dies.
func Take(dataDir string) (release func() error, err error) {
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return nil, fmt.Errorf("create data directory: %w", err)
	}
	if err := os.Chmod(dataDir, 0o700); err != nil { // another command may have made it, and keys will lie in there
		return nil, fmt.Errorf("make data directory private: %w", err)
	}
	f, err := os.OpenFile(lockFile(dataDir), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w by process %d", dataDir, ErrInUse, Owner(dataDir))
	}
	if err := errors.Join(f.Truncate(0), writePID(f)); err != nil {
		f.Close()
		return nil, fmt.Errorf("write lock: %w", err)
	}
	return func() error { return errors.Join(f.Truncate(0), f.Close()) }, nil
}

func writePID(f *os.File) error {
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

func lockFile(dataDir string) string { return filepath.Join(dataDir, "lock") }

// Owner is the process that holds the directory, 0 where none does or none is known.
func Owner(dataDir string) int {
	raw, err := os.ReadFile(lockFile(dataDir))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return 0
	}
	return pid
}
