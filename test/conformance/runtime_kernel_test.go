// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"net/url"
	"regexp"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"weir.dev/pkg/ptr"
)

// Developers must not configure masked and read-only paths or devices: even a program that is root cannot change the machine, nor
// see what is masked. "/proc/sys SHOULD be read-only."
func TestRuntimeKernelIsOutOfReach(t *testing.T) {
	s := parallelSpace(t)
	app := s.run(asUser(0))
	readOnly := []string{"/proc/sys/kernel/core_pattern", "/proc/sys/vm/swappiness", "/proc/sys/net/ipv4/ip_forward", "/proc/sysrq-trigger"}
	masked := []string{"/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/sched_debug", "/proc/interrupts"}
	hidden := []string{"/sys/firmware", "/proc/acpi", "/proc/scsi"}
	got := s.inspect(app, url.Values{"open": readOnly, "read": masked, "list": append(hidden, "/proc")})
	if got.UID != 0 {
		t.Fatalf("runs as %d, want root", got.UID)
	}
	for _, path := range readOnly {
		if f := got.Open[path]; f.Errno != "EROFS" && f.Errno != "ENOENT" {
			t.Errorf("%s can be written: %+v", path, f)
		}
	}
	for _, path := range masked {
		if f := got.Read[path]; f.Text != "" {
			t.Errorf("%s can be read: %d bytes", path, len(f.Text))
		}
	}
	for _, path := range hidden {
		if f := got.List[path]; len(f.Names) > 0 {
			t.Errorf("%s holds %v", path, f.Names)
		}
	}
	for _, name := range got.List["/proc"].Names {
		if pid, err := strconv.Atoi(name); err == nil && pid != got.PID {
			t.Errorf("process %d is seen by the program, which is %d", pid, got.PID)
		}
	}
	// /dev/mem by a node of one's own: the node may be made, but not opened.
	var device file
	s.getJSON(app+"/device?path=/tmp/mem&major=1&minor=1", &device)
	if device.Errno != "EPERM" && device.Errno != "EACCES" {
		t.Errorf("the machine's memory can be opened: %+v", device)
	}
}

// What a security context may ask for is done.
func TestRuntimeSecurityContext(t *testing.T) {
	s := parallelSpace(t)
	app := s.run(security(corev1.SecurityContext{
		RunAsUser:                ptr.Int64(0),
		ReadOnlyRootFilesystem:   ptr.Bool(true),
		AllowPrivilegeEscalation: ptr.Bool(false),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		SeccompProfile:           &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}), volumes(map[string]corev1.VolumeSource{"empty": {EmptyDir: &corev1.EmptyDirVolumeSource{}}}))
	status := s.inspect(app, url.Values{"read": {"/proc/self/status"}}).Read["/proc/self/status"].Text
	for _, line := range []string{`CapBnd:\s0+`, `CapEff:\s0+`, `NoNewPrivs:\s1`, `Seccomp:\s2`} {
		if !regexp.MustCompile("(?m)^" + line + "$").MatchString(status) {
			t.Errorf("the process has no %s:\n%s", line, status)
		}
	}
	if failed := s.write(app, "/new", ""); failed.Errno != "EROFS" {
		t.Errorf("a write to the root: %+v, want a read-only file system", failed)
	}
	if failed := s.write(app, "/v/empty/new", ""); failed.Error != "" {
		t.Errorf("a write to a volume: %+v", failed)
	}
}
