// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package image

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

type lockMode int

const (
	shared    = lockMode(syscall.LOCK_SH)
	exclusive = lockMode(syscall.LOCK_EX)
)

// fileLock is a lock between goroutines and between processes alike: every
// holder has an open file of its own. The kernel frees it when a process dies.
type fileLock struct{ file *os.File }

// lock waits for the lock on path, which is created, until ctx ends.
func lock(ctx context.Context, path string, mode lockMode) (*fileLock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		err := syscall.Flock(int(file.Fd()), int(mode)|syscall.LOCK_NB)
		if err == nil {
			return &fileLock{file: file}, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			_ = file.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		select {
		case <-ctx.Done():
			_ = file.Close()
			return nil, fmt.Errorf("wait for lock %s: %w", path, ctx.Err())
		case <-time.After(wait):
		}
	}
}

func (l *fileLock) unlock() { _ = l.file.Close() }
