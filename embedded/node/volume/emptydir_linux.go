// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
)

// emptyDir makes a directory that any user may write to. One in memory counts
// against the pod's memory; its size is bounded by its own limit.
func (s *Set) emptyDir(pod *corev1.Pod, v *corev1.Volume) error {
	dir := s.path(v)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	switch v.EmptyDir.Medium {
	case corev1.StorageMediumDefault:
	case corev1.StorageMediumMemory:
		if err := mountMemory(dir, memorySize(pod, v.EmptyDir)); err != nil {
			return err
		}
	default:
		return fmt.Errorf("medium %q: %w", v.EmptyDir.Medium, ErrUnsupported)
	}
	if err := unix.Chmod(dir, 0o777); err != nil {
		return fmt.Errorf("set mode: %w", err)
	}
	group := fsGroup(pod)
	if group == nil {
		return nil
	}
	if err := os.Chown(dir, -1, int(*group)); err != nil {
		return fmt.Errorf("set group: %w", err)
	}
	const setGroupID = 0o2000
	return unix.Chmod(dir, 0o777|setGroupID)
}

// memorySize is 0 when nothing limits it but the kernel (half the memory).
func memorySize(pod *corev1.Pod, e *corev1.EmptyDirVolumeSource) int64 {
	var size int64
	for _, c := range pod.Spec.Containers {
		limit := c.Resources.Limits.Memory().Value()
		if limit == 0 {
			size = 0
			break
		}
		size += limit
	}
	if e.SizeLimit != nil && !e.SizeLimit.IsZero() && (size == 0 || e.SizeLimit.Value() < size) {
		size = e.SizeLimit.Value()
	}
	return size
}

func mountMemory(dir string, size int64) error {
	var inner, outer unix.Stat_t
	if err := unix.Stat(dir, &inner); err != nil {
		return fmt.Errorf("look at directory: %w", err)
	}
	if err := unix.Stat(filepath.Dir(dir), &outer); err != nil {
		return fmt.Errorf("look at directory: %w", err)
	}
	if inner.Dev != outer.Dev {
		return nil
	}
	options := "mode=0777"
	if size > 0 {
		options += fmt.Sprintf(",size=%d", size)
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return fmt.Errorf("mount memory file system: %w", err)
	}
	return nil
}
