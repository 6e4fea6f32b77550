// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"fmt"
	"slices"
	"strings"

	"github.com/moby/profiles/seccomp"
	specs "github.com/opencontainers/runtime-spec/specs-go"
	corev1 "k8s.io/api/core/v1"
)

// confine sets capabilities, masked paths and the seccomp filter.
func confine(spec *specs.Spec, req Request) error {
	capabilities := capabilitiesOf(req.Container, req.Machine)
	spec.Process.Capabilities = &specs.LinuxCapabilities{
		Bounding:  capabilities,
		Effective: capabilities,
		Permitted: capabilities,
	}
	if privileged(req.Container) {
		spec.Linux.Resources.Devices = []specs.LinuxDeviceCgroup{{Allow: true, Access: "rwm"}}
		return nil
	}
	if !unmasked(req.Container) {
		spec.Linux.MaskedPaths = maskedPaths()
		spec.Linux.ReadonlyPaths = readOnlyPaths(req.Machine)
	}
	return setSeccomp(spec, req)
}

func unmasked(c *corev1.Container) bool {
	s := c.SecurityContext
	return s != nil && s.ProcMount != nil && *s.ProcMount == corev1.UnmaskedProcMount
}

// maskedPaths are those that Kubernetes' runtimes mask.
func maskedPaths() []string {
	return []string{
		"/proc/asound", "/proc/acpi", "/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/latency_stats",
		"/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/sys/firmware",
		"/sys/devices/virtual/powercap",
	}
}

func readOnlyPaths(machine Machine) []string {
	paths := []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"}
	if !machine.CgroupV2 {
		// With v1 the runtime makes the controllers' mounts read-only, but not
		// the directory that holds them (facts S18).
		paths = append(paths, "/sys/fs/cgroup")
	}
	return paths
}

// setSeccomp applies the default filter unless the pod asks for none: the
// runtime contract (facts S21) wants one outside the container's spec.
func setSeccomp(spec *specs.Spec, req Request) error {
	profile := seccompProfile(req.Pod, req.Container)
	if profile != nil {
		switch profile.Type {
		case corev1.SeccompProfileTypeUnconfined:
			return nil
		case corev1.SeccompProfileTypeLocalhost:
			return fmt.Errorf("seccomp profiles of type Localhost are not supported: %w", ErrConfig)
		}
	}
	filter, err := seccomp.GetDefaultProfile(spec)
	if err != nil {
		return fmt.Errorf("make seccomp filter: %w", err)
	}
	// The x32 ABI is off in distributions' kernels, and a tenth of the runtime's time to create a container.
	filter.Architectures = slices.DeleteFunc(filter.Architectures, func(a specs.Arch) bool { return a == specs.ArchX32 })
	spec.Linux.Seccomp = filter
	return nil
}

func seccompProfile(pod *corev1.Pod, c *corev1.Container) *corev1.SeccompProfile {
	if s := c.SecurityContext; s != nil && s.SeccompProfile != nil {
		return s.SeccompProfile
	}
	if s := pod.Spec.SecurityContext; s != nil {
		return s.SeccompProfile
	}
	return nil
}

// capabilitiesOf applies a container's add and drop lists to the default set.
// "All", as for a privileged container, are those that the machine has to give.
func capabilitiesOf(c *corev1.Container, machine Machine) []string {
	if privileged(c) {
		return slices.Clone(machine.Capabilities)
	}
	set := slices.DeleteFunc(defaultCapabilities(), func(name string) bool {
		return len(machine.Capabilities) > 0 && !slices.Contains(machine.Capabilities, name)
	})
	if c.SecurityContext == nil || c.SecurityContext.Capabilities == nil {
		return set
	}
	lists := c.SecurityContext.Capabilities
	if contains(lists.Add, "ALL") {
		set = slices.Clone(machine.Capabilities)
	}
	if contains(lists.Drop, "ALL") {
		set = nil
	}
	for _, capability := range lists.Add {
		if name := capabilityName(capability); name != "CAP_ALL" && !slices.Contains(set, name) {
			set = append(set, name)
		}
	}
	for _, capability := range lists.Drop {
		set = slices.DeleteFunc(set, func(name string) bool { return name == capabilityName(capability) })
	}
	slices.Sort(set)
	return set
}

func contains(list []corev1.Capability, name string) bool {
	return slices.ContainsFunc(list, func(c corev1.Capability) bool { return capabilityName(c) == "CAP_"+name })
}

func capabilityName(c corev1.Capability) string {
	name := strings.ToUpper(string(c))
	if strings.HasPrefix(name, "CAP_") {
		return name
	}
	return "CAP_" + name
}

// defaultCapabilities are those that containers have had since Docker.
func defaultCapabilities() []string {
	return []string{
		"CAP_AUDIT_WRITE", "CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_KILL", "CAP_MKNOD",
		"CAP_NET_BIND_SERVICE", "CAP_NET_RAW", "CAP_SETFCAP", "CAP_SETGID", "CAP_SETPCAP", "CAP_SETUID", "CAP_SYS_CHROOT",
	}
}

// Capabilities are the names of the capabilities in a mask, as in the CapBnd
// line of /proc/self/status. Newer ones than capability(7) of Linux 5.9 are left out.
func Capabilities(mask uint64) []string {
	names := []string{
		"CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "SETPCAP",
		"LINUX_IMMUTABLE", "NET_BIND_SERVICE", "NET_BROADCAST", "NET_ADMIN", "NET_RAW", "IPC_LOCK", "IPC_OWNER",
		"SYS_MODULE", "SYS_RAWIO", "SYS_CHROOT", "SYS_PTRACE", "SYS_PACCT", "SYS_ADMIN", "SYS_BOOT", "SYS_NICE",
		"SYS_RESOURCE", "SYS_TIME", "SYS_TTY_CONFIG", "MKNOD", "LEASE", "AUDIT_WRITE", "AUDIT_CONTROL", "SETFCAP",
		"MAC_OVERRIDE", "MAC_ADMIN", "SYSLOG", "WAKE_ALARM", "BLOCK_SUSPEND", "AUDIT_READ", "PERFMON", "BPF",
		"CHECKPOINT_RESTORE",
	}
	var set []string
	for bit, name := range names {
		if mask&(1<<bit) != 0 {
			set = append(set, "CAP_"+name)
		}
	}
	return set
}
