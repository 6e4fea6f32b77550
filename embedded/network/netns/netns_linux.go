// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package netns makes network namespaces and pins them as files. It starts no
// process: one thread changes over and back.
package netns

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// current names the network namespace of the calling thread.
const current = "/proc/thread-self/ns/net"

// New makes a namespace, pins it at path and calls configure on a thread that is
// in it. The file at path must not exist. On an error nothing is left.
func New(path string, configure func(ns *os.File) error) error {
	return onThread(func() (err error) {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("make network namespace: %w", err)
		}
		if err := pin(path); err != nil {
			return err
		}
		defer func() {
			if err != nil {
				err = errors.Join(err, Remove(path))
			}
		}()
		return withFile(path, configure)
	})
}

// Do calls f on a thread that is in the namespace pinned at path.
func Do(path string, f func() error) error {
	return onThread(func() error {
		return withFile(path, func(ns *os.File) error {
			if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
				return fmt.Errorf("enter network namespace %s: %w", path, err)
			}
			return f()
		})
	})
}

// onThread calls f on a thread of its own, which may change its namespace. A
// thread that cannot change back ends.
func onThread(f func() error) error {
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			// The first thread stands for the process in /proc, so it stays at home:
			// while it is held here, the next goroutine has another.
			result <- onThread(f)
			runtime.UnlockOSThread()
			return
		}
		result <- func() error {
			home, err := os.Open(current)
			if err != nil {
				return fmt.Errorf("open own network namespace: %w", err)
			}
			defer func() { _ = home.Close() }()
			err = f()
			if back := unix.Setns(int(home.Fd()), unix.CLONE_NEWNET); back != nil {
				return errors.Join(err, fmt.Errorf("leave network namespace: %w", back))
			}
			runtime.UnlockOSThread()
			return err
		}()
	}()
	return <-result
}

func withFile(path string, f func(*os.File) error) error {
	ns, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open network namespace: %w", err)
	}
	defer func() { _ = ns.Close() }()
	return f(ns)
}

func pin(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDONLY, 0o444)
	if err != nil {
		return fmt.Errorf("pin network namespace: %w", err)
	}
	_ = file.Close()
	if err := unix.Mount(current, path, "", unix.MS_BIND, ""); err != nil {
		return errors.Join(fmt.Errorf("pin network namespace at %s: %w", path, err), os.Remove(path))
	}
	return nil
}

// Pinned reports whether there is a namespace at path, not just a file that a
// reboot left.
func Pinned(path string) bool {
	var st unix.Statfs_t
	return unix.Statfs(path, &st) == nil && st.Type == unix.NSFS_MAGIC
}

// Remove takes the pin away. The namespace ends with the last process in it. It
// can be repeated.
func Remove(path string) error {
	for {
		err := unix.Unmount(path, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
		if err == nil {
			continue // Mounts may lie upon each other.
		}
		if !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("unpin network namespace %s: %w", path, err)
		}
		break
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("unpin network namespace: %w", err)
	}
	return nil
}
