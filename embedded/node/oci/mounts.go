// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package oci

import (
	specs "github.com/opencontainers/runtime-spec/specs-go"
)

// systemMounts are the kernel's own file systems of a container. /sys and the
// cgroups are read-only; devices are the OCI default ones.
func systemMounts(req Request) []specs.Mount {
	access := "ro"
	if privileged(req.Container) {
		access = "rw"
	}
	mounts := []specs.Mount{
		{Destination: "/proc", Type: "proc", Source: "proc", Options: []string{"nosuid", "noexec", "nodev"}},
		{Destination: "/dev", Type: "tmpfs", Source: "tmpfs", Options: []string{"nosuid", "strictatime", "mode=755", "size=65536k"}},
		{Destination: "/dev/pts", Type: "devpts", Source: "devpts",
			Options: []string{"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"}},
		sysfs(req, access),
		{Destination: "/sys/fs/cgroup", Type: "cgroup", Source: "cgroup",
			Options: []string{"nosuid", "noexec", "nodev", "relatime", access}},
	}
	if req.Sandbox.IPCNS != "" {
		mounts = append(mounts, specs.Mount{Destination: "/dev/mqueue", Type: "mqueue", Source: "mqueue",
			Options: []string{"nosuid", "noexec", "nodev"}})
	}
	return mounts
}

// sysfs of the machine's network cannot be mounted anew by a container in the
// machine's network namespace without showing it, so it is bound there.
func sysfs(req Request, access string) specs.Mount {
	options := []string{"nosuid", "noexec", "nodev", access}
	if req.Sandbox.NetNS == "" {
		return specs.Mount{Destination: "/sys", Type: "bind", Source: "/sys", Options: append([]string{"rbind"}, options...)}
	}
	return specs.Mount{Destination: "/sys", Type: "sysfs", Source: "sysfs", Options: options}
}

// Bind is a bind mount that takes no part in mount propagation.
func Bind(source, destination string, readOnly bool) specs.Mount {
	access := "rw"
	if readOnly {
		access = "ro"
	}
	return specs.Mount{Destination: destination, Type: "bind", Source: source, Options: []string{"rbind", "rprivate", access}}
}
