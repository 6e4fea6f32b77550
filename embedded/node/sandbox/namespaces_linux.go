// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"
)

// makeNamespaces makes host name and IPC namespaces that live as long as they
// are mounted, without a process in them.
func (s *Sandbox) makeNamespaces(cfg Config) error {
	flags := 0
	files := map[string]string{}
	if !cfg.HostNetwork {
		s.UTSNS = filepath.Join(s.Dir, "ns", "uts")
		files["uts"] = s.UTSNS
		flags |= unix.CLONE_NEWUTS
	}
	if !cfg.HostIPC {
		s.IPCNS = filepath.Join(s.Dir, "ns", "ipc")
		files["ipc"] = s.IPCNS
		flags |= unix.CLONE_NEWIPC
	}
	if len(files) == 0 {
		return nil
	}
	for kind, file := range files {
		if mounted, err := isNamespace(file); err != nil {
			return err
		} else if mounted {
			delete(files, kind)
		}
	}
	if len(files) == 0 {
		return nil
	}
	done := make(chan error, 1)
	go func() {
		// Never unlocked: the thread in the new namespaces ends with us.
		runtime.LockOSThread()
		done <- bindNamespaces(flags, files, cfg.Hostname)
	}()
	return <-done
}

func bindNamespaces(flags int, files map[string]string, hostname string) error {
	if err := unix.Unshare(flags); err != nil {
		return fmt.Errorf("make namespaces: %w", err)
	}
	if flags&unix.CLONE_NEWUTS != 0 {
		if err := unix.Sethostname([]byte(hostname)); err != nil {
			return fmt.Errorf("set host name: %w", err)
		}
	}
	for kind, file := range files {
		if err := unix.Mount("/proc/thread-self/ns/"+kind, file, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("keep %s namespace: %w", kind, err)
		}
	}
	return nil
}

// isNamespace makes the file if it is missing and says whether a namespace is
// mounted on it.
func isNamespace(file string) (bool, error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDONLY, 0o600)
	if err != nil {
		return false, fmt.Errorf("make namespace file: %w", err)
	}
	defer f.Close()
	var stat unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &stat); err != nil {
		return false, fmt.Errorf("look at namespace file: %w", err)
	}
	return stat.Type == unix.NSFS_MAGIC, nil
}
