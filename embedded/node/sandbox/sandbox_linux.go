// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package sandbox makes what the containers of a pod share: a network
// namespace with an address, host name and IPC namespaces, /dev/shm, the DNS
// files and a cgroup. A sandbox has an id of its own, not the pod's, so that
// one can exist before its pod does. Everything of it lies in one directory.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"weir.dev/embedded/node/cgroup"
)

// Network gives sandboxes their network namespace and address.
type Network interface {
	// Attach makes the network namespace of a sandbox and returns its path and
	// address. An existing one is returned again.
	Attach(ctx context.Context, sandbox string) (netns string, ip netip.Addr, err error)
	// Detach removes it; none is no error.
	Detach(ctx context.Context, sandbox string) error
	// Sandboxes lists those that have one.
	Sandboxes() ([]string, error)
}

// Config describes a sandbox.
type Config struct {
	// ID is unique on the machine, Dir is the sandbox's own directory.
	ID, Dir string
	// CgroupPath is the sandbox's cgroup below the root of the hierarchies.
	CgroupPath string
	Limits     cgroup.Limits
	// Hostname is what the containers see as their host's name.
	Hostname string
	// HostNetwork uses the machine's network and host name, HostIPC its IPC.
	HostNetwork, HostIPC bool
	// HostIP is the address of a sandbox in the machine's network.
	HostIP netip.Addr
}

// Sandbox is an open sandbox. Empty paths mean the machine's own namespace.
type Sandbox struct {
	ID, Dir              string
	IP                   netip.Addr
	NetNS, IPCNS, UTSNS  string
	Hostname, CgroupPath string
}

// Open makes the sandbox, or what is missing of it. networked is called with
// the address as soon as it is known; the sandbox needs some work more then.
func Open(ctx context.Context, cfg Config, network Network, networked func(netip.Addr)) (*Sandbox, error) {
	s := &Sandbox{ID: cfg.ID, Dir: cfg.Dir, Hostname: cfg.Hostname, CgroupPath: cfg.CgroupPath}
	for _, dir := range []string{s.Dir, s.FilesDir(), s.ShmDir(), s.MemoryDir(), filepath.Join(s.Dir, "ns")} {
		if err := os.MkdirAll(dir, 0o711); err != nil {
			return nil, fmt.Errorf("make sandbox directory: %w", err)
		}
	}
	if err := s.attach(ctx, cfg, network); err != nil {
		return nil, err
	}
	networked(s.IP)

	if err := cgroup.Create(cfg.CgroupPath, cfg.Limits); err != nil {
		return nil, err
	}
	if err := s.makeNamespaces(cfg); err != nil {
		return nil, err
	}
	// Secrets and tokens stay in memory; the limit only bounds accidents. Files
	// of config maps may be programs.
	if err := mountTmpfs(s.MemoryDir(), 0, "mode=0711,size=256m"); err != nil {
		return nil, err
	}
	if cfg.HostIPC {
		return s, nil
	}
	return s, mountTmpfs(s.ShmDir(), unix.MS_NOEXEC, "mode=1777,size=64m")
}

// FilesDir holds hosts, hostname and resolv.conf.
func (s *Sandbox) FilesDir() string { return filepath.Join(s.Dir, "etc") }

// ShmDir is mounted as /dev/shm.
func (s *Sandbox) ShmDir() string { return filepath.Join(s.Dir, "shm") }

// MemoryDir is a file system in memory for what must not reach a disk.
func (s *Sandbox) MemoryDir() string { return filepath.Join(s.Dir, "mem") }

func (s *Sandbox) attach(ctx context.Context, cfg Config, network Network) error {
	if cfg.HostNetwork {
		s.IP = cfg.HostIP
		return nil
	}
	netns, ip, err := network.Attach(ctx, cfg.ID)
	if err != nil {
		return fmt.Errorf("attach sandbox %s to the network: %w", cfg.ID, err)
	}
	s.NetNS, s.IP = netns, ip
	return nil
}

// Close kills everything in the sandbox and removes it. It can be repeated,
// also for a sandbox that only half exists.
func Close(ctx context.Context, cfg Config, network Network) error {
	if err := Release(ctx, cfg, network); err != nil {
		return err
	}
	if err := os.RemoveAll(cfg.Dir); err != nil {
		return fmt.Errorf("remove sandbox %s: %w", cfg.ID, err)
	}
	return nil
}

// Release kills everything in the sandbox and gives back what it has of the
// kernel: cgroup, mounts and network. Its files on disk stay.
func Release(ctx context.Context, cfg Config, network Network) error {
	if err := cgroup.Remove(ctx, cfg.CgroupPath); err != nil {
		return err
	}
	if err := UnmountBelow(cfg.Dir); err != nil {
		return err
	}
	if err := network.Detach(ctx, cfg.ID); err != nil {
		return fmt.Errorf("detach sandbox %s from the network: %w", cfg.ID, err)
	}
	return nil
}

func mountTmpfs(dir string, flags uintptr, options string) error {
	mounted, err := isMounted(dir)
	if err != nil || mounted {
		return err
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", flags|unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return fmt.Errorf("mount memory file system: %w", err)
	}
	return nil
}

// isMounted compares the device with the parent directory's.
func isMounted(dir string) (bool, error) {
	var inner, outer unix.Stat_t
	if err := unix.Stat(dir, &inner); err != nil {
		return false, fmt.Errorf("look at %s: %w", dir, err)
	}
	if err := unix.Stat(filepath.Dir(dir), &outer); err != nil {
		return false, fmt.Errorf("look at %s: %w", dir, err)
	}
	return inner.Dev != outer.Dev, nil
}

// UnmountBelow unmounts dir and all mounts below it, the deepest first.
func UnmountBelow(dir string) error {
	mounts, err := mountsBelow(dir)
	if err != nil {
		return err
	}
	for i := len(mounts) - 1; i >= 0; i-- {
		err := unix.Unmount(mounts[i], unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
		if err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("unmount %s: %w", mounts[i], err)
		}
	}
	return nil
}
