// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package rootfs gives a container its root file system: a fresh writable
// layer over the unpacked layers of an image (overlayfs). It knows directories
// only, no images and no containers.
package rootfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Mount mounts the layers, bottom first, with a writable layer of their own
// below dir, and returns the root's path. It can be called again after it failed.
func Mount(dir string, layers []string) (string, error) {
	root := filepath.Join(dir, "rootfs")
	upper, work := filepath.Join(dir, "upper"), filepath.Join(dir, "work")
	for path, mode := range map[string]fs.FileMode{root: 0o755, upper: 0o755, work: 0o700} {
		if err := os.MkdirAll(path, mode); err != nil {
			return "", fmt.Errorf("make root file system: %w", err)
		}
	}
	if err := copyRootMode(upper, layers); err != nil {
		return "", err
	}
	if err := makeTmp(upper, layers); err != nil {
		return "", err
	}
	if len(layers) == 0 {
		if err := unix.Mount(upper, root, "", unix.MS_BIND, ""); err != nil {
			return "", fmt.Errorf("mount root file system: %w", err)
		}
		return root, nil
	}
	return root, mountOverlay(root, upper, work, layers)
}

func mountOverlay(root, upper, work string, layers []string) error {
	lower, closeLayers, err := lowerOption(layers)
	if err != nil {
		return err
	}
	defer closeLayers()
	// The writable layer never outlives its container, so it need not survive
	// a crash of the machine: volatile leaves out every sync.
	data := "lowerdir=" + lower + ",upperdir=" + upper + ",workdir=" + work + ",volatile"
	if err := unix.Mount("overlay", root, "overlay", 0, data); err == nil {
		return nil
	}
	data = strings.TrimSuffix(data, ",volatile")
	if err := unix.Mount("overlay", root, "overlay", 0, data); err != nil {
		return fmt.Errorf("mount %d layers as root file system: %w", len(layers), err)
	}
	return nil
}

// lowerOption joins the layers, topmost first. mount(2) takes at most one page
// of options, so long lists name the layers by open descriptors.
func lowerOption(layers []string) (string, func(), error) {
	const most = 3000
	var names []string
	length := 0
	for i := len(layers) - 1; i >= 0; i-- {
		names = append(names, escape(layers[i]))
		length += len(layers[i]) + 1
	}
	if length < most {
		return strings.Join(names, ":"), func() {}, nil
	}
	var open []int
	closeAll := func() {
		for _, fd := range open {
			_ = unix.Close(fd)
		}
	}
	names = names[:0]
	for i := len(layers) - 1; i >= 0; i-- {
		fd, err := unix.Open(layers[i], unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			closeAll()
			return "", nil, fmt.Errorf("open layer %s: %w", layers[i], err)
		}
		open = append(open, fd)
		names = append(names, fmt.Sprintf("/proc/self/fd/%d", fd))
	}
	return strings.Join(names, ":"), closeAll, nil
}

// escape protects what overlayfs takes for separators.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `:`, `\:`, `,`, `\,`).Replace(path)
}

// copyRootMode gives the writable layer the mode of the topmost layer's root:
// overlayfs shows the upper one's.
func copyRootMode(upper string, layers []string) error {
	if len(layers) == 0 {
		return nil
	}
	var stat unix.Stat_t
	if err := unix.Stat(layers[len(layers)-1], &stat); err != nil {
		return fmt.Errorf("read layer: %w", err)
	}
	if err := unix.Chmod(upper, stat.Mode&0o7777|0o555); err != nil {
		return fmt.Errorf("set mode of root: %w", err)
	}
	return nil
}

// makeTmp adds a writable /tmp where the image has none (facts R14).
func makeTmp(upper string, layers []string) error {
	for _, layer := range layers {
		if _, err := os.Lstat(filepath.Join(layer, "tmp")); err == nil {
			return nil
		}
	}
	path := filepath.Join(upper, "tmp")
	if err := os.MkdirAll(path, 0o777); err != nil {
		return fmt.Errorf("make /tmp: %w", err)
	}
	if err := os.Chmod(path, 0o777|fs.ModeSticky); err != nil {
		return fmt.Errorf("set mode of /tmp: %w", err)
	}
	return nil
}

// Unmount detaches the root that Mount made; none is no error.
func Unmount(dir string) error {
	err := unix.Unmount(filepath.Join(dir, "rootfs"), unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
	if err == nil || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOENT) {
		return nil
	}
	return fmt.Errorf("unmount root file system: %w", err)
}
