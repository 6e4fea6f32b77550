// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package claim makes a data directory the property of one process at a time.
package claim

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrForeign is returned for a directory that holds other people's files: it was never a data directory.
var ErrForeign = errors.New("no data directory of weir")

// Images is what may lie in a directory before its first claim: weir image build needs no running Weir.
const Images = "images"

// ErrInUse is returned where another process works on the same data directory.
var ErrInUse = errors.New("data directory is in use")

// Take claims the data directory for this process until release. The kernel drops the claim when the process dies.
func Take(dataDir string) (release func() error, err error) {
	if err := Check(dataDir); err != nil {
		return nil, err
	}
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

// Check refuses a directory that was never claimed and has something in it, before anything is done to it: it may be
// somebody's home. A directory that does not exist is fine.
func Check(dataDir string) error {
	if _, err := os.Stat(lockFile(dataDir)); err == nil {
		return nil
	}
	entries, err := os.ReadDir(dataDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look into data directory: %w", err)
	}
	for _, e := range entries {
		if e.Name() != Images {
			return fmt.Errorf("%s: %w: it holds %s", dataDir, ErrForeign, e.Name())
		}
	}
	return nil
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
