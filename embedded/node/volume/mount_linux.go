// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	pathrs "github.com/cyphar/filepath-securejoin/pathrs-lite"
	specs "github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
)

// Mounts are the mounts of a container's volumes. Parts of volumes (subPath)
// are held by mounts below dir, which belongs to the container. expand replaces
// variables in subPathExpr.
func (s *Set) Mounts(pod *corev1.Pod, c *corev1.Container, dir string, expand func(string) string) ([]specs.Mount, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var mounts []specs.Mount
	for i, m := range c.VolumeMounts {
		v := find(pod, m.Name)
		if v == nil {
			return nil, fmt.Errorf("container %s mounts volume %q, which does not exist", c.Name, m.Name)
		}
		source := s.path(v)
		sub := m.SubPath
		if m.SubPathExpr != "" {
			sub = expand(m.SubPathExpr)
		}
		if sub != "" {
			held, err := hold(source, sub, filepath.Join(dir, "subpath", strconv.Itoa(i)))
			if err != nil {
				return nil, fmt.Errorf("part %q of volume %q: %w", sub, m.Name, err)
			}
			source = held
		}
		mounts = append(mounts, mount(source, m, projects(v)))
	}
	return mounts, nil
}

func find(pod *corev1.Pod, name string) *corev1.Volume {
	for i := range pod.Spec.Volumes {
		if pod.Spec.Volumes[i].Name == name {
			return &pod.Spec.Volumes[i]
		}
	}
	return nil
}

// mount binds without mount propagation: developers cannot configure it, except
// for what the machine mounts below a hostPath.
func mount(source string, m corev1.VolumeMount, projected bool) specs.Mount {
	propagation, access := "rprivate", "rw"
	if m.MountPropagation != nil {
		switch *m.MountPropagation {
		case corev1.MountPropagationHostToContainer:
			propagation = "rslave"
		case corev1.MountPropagationBidirectional:
			propagation = "rshared"
		}
	}
	if m.ReadOnly || projected {
		access = "ro"
	}
	return specs.Mount{Destination: m.MountPath, Type: "bind", Source: source, Options: []string{"rbind", propagation, access}}
}

// hold binds a part of a volume to target. The part is resolved inside the
// volume once and bound by its descriptor, so that a container which changes
// links meanwhile cannot lead it elsewhere.
func hold(volume, sub, target string) (string, error) {
	if !filepath.IsLocal(sub) {
		return "", fmt.Errorf("path leads out of the volume")
	}
	handle, err := pathrs.OpenInRoot(volume, sub)
	if errors.Is(err, fs.ErrNotExist) {
		handle, err = makePart(volume, sub)
	}
	if err != nil {
		return "", err
	}
	defer handle.Close()
	if err := makeTarget(handle, target); err != nil {
		return "", err
	}
	source := fmt.Sprintf("/proc/self/fd/%d", handle.Fd())
	if err := unix.Mount(source, target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return "", fmt.Errorf("bind: %w", err)
	}
	return target, nil
}

// makePart makes a directory in a volume that whoever may use the volume may
// use too.
func makePart(volume, sub string) (*os.File, error) {
	var stat unix.Stat_t
	if err := unix.Stat(volume, &stat); err != nil {
		return nil, err
	}
	if err := pathrs.MkdirAll(volume, sub, 0o755); err != nil {
		return nil, err
	}
	handle, err := pathrs.OpenInRoot(volume, sub)
	if err != nil {
		return nil, err
	}
	path := fmt.Sprintf("/proc/self/fd/%d", handle.Fd())
	if err := errors.Join(unix.Chown(path, int(stat.Uid), int(stat.Gid)), unix.Chmod(path, stat.Mode&0o7777)); err != nil {
		_ = handle.Close()
		return nil, err
	}
	return handle, nil
}

func makeTarget(handle *os.File, target string) error {
	info, err := handle.Stat()
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.MkdirAll(target, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	file, err := os.OpenFile(target, os.O_CREATE|os.O_RDONLY, 0o644)
	if err != nil {
		return err
	}
	return file.Close()
}
