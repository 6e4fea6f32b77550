// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// Whiteouts as archives carry them (OCI image layer specification, "Whiteouts").
const (
	whiteoutPrefix = ".wh."
	// whiteoutMeta starts names that aufs kept for itself.
	whiteoutMeta   = ".wh..wh."
	whiteoutOpaque = ".wh..wh..opq"
)

// isMeta reports whether a name is one of those, or under one.
func isMeta(name string) bool {
	return path.Base(name) != whiteoutOpaque && strings.Contains("/"+name, "/"+whiteoutMeta)
}

// whiteout turns an archive's whiteout into overlayfs's: a character device 0/0
// in place of a file, an extended attribute on an opaque directory.
func (x *extractor) whiteout(name string, at place) error {
	if at.base == whiteoutOpaque {
		return setOpaque(fmt.Sprintf("/proc/self/fd/%d", at.parent))
	}
	hidden := place{at.parent, strings.TrimPrefix(at.base, whiteoutPrefix)}
	if hidden.base == "" || hidden.base == "." || hidden.base == ".." {
		return errors.New("whiteout of nothing")
	}
	// A whiteout hides what lower layers have, never this layer's own.
	switch kind, err := x.kind(hidden); {
	case err != nil:
		return err
	case kind == unix.S_IFDIR:
		return setOpaque(hidden.path())
	case kind != 0:
		return nil
	}
	if err := unix.Mknodat(hidden.parent, hidden.base, unix.S_IFCHR, 0); err != nil {
		return fmt.Errorf("make whiteout of %q: %w", path.Join(path.Dir(name), hidden.base), err)
	}
	return nil
}

// opaqueXattrs mark opaque directories: the second is for overlayfs mounts of
// users without privileges (mount option userxattr).
const (
	opaqueXattr     = "trusted.overlay.opaque"
	opaqueUserXattr = "user.overlay.opaque"
)

func setOpaque(dir string) error {
	err := unix.Setxattr(dir, opaqueXattr, []byte("y"), 0)
	if errors.Is(err, unix.EPERM) {
		err = unix.Setxattr(dir, opaqueUserXattr, []byte("y"), 0)
	}
	if err != nil {
		return fmt.Errorf("make directory opaque: %w", err)
	}
	return nil
}

// isOpaque reports whether the directory hides all lower ones.
func isOpaque(dir string) bool {
	value := make([]byte, 1)
	for _, attr := range []string{opaqueXattr, opaqueUserXattr} {
		if n, err := unix.Lgetxattr(dir, attr, value); err == nil && n == 1 && value[0] == 'y' {
			return true
		}
	}
	return false
}
