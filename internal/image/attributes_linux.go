// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"errors"
	"fmt"
	"math"
	"path"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const xattrPrefix = "SCHILY.xattr."

// attributes sets owner, mode, extended attributes and times, in the order in
// which the kernel keeps them: a change of owner clears set-uid and capabilities.
func (x *extractor) attributes(at place, hdr *tar.Header, name string) error {
	if err := x.owner(at, hdr); err != nil {
		return err
	}
	link := hdr.Typeflag == tar.TypeSymlink
	if !link {
		if err := unix.Fchmodat(at.parent, at.base, uint32(hdr.Mode&0o7777), 0); err != nil {
			return fmt.Errorf("set mode: %w", err)
		}
	}
	for key, value := range hdr.PAXRecords {
		attr, ok := strings.CutPrefix(key, xattrPrefix)
		if !ok || link || !wantedXattr(attr) {
			continue
		}
		if err := setXattr(at.path(), attr, []byte(value)); err != nil {
			return fmt.Errorf("set %s: %w", attr, err)
		}
	}
	if hdr.Typeflag == tar.TypeDir {
		x.dirs = append(x.dirs, dirTime{name, hdr.ModTime})
		return nil
	}
	return setTime(at, hdr.ModTime)
}

func (x *extractor) owner(at place, hdr *tar.Header) error {
	if hdr.Uid < 0 || hdr.Gid < 0 || int64(hdr.Uid) >= math.MaxUint32 || int64(hdr.Gid) >= math.MaxUint32 {
		return fmt.Errorf("bad owner %d:%d", hdr.Uid, hdr.Gid)
	}
	err := unix.Fchownat(at.parent, at.base, hdr.Uid, hdr.Gid, unix.AT_SYMLINK_NOFOLLOW)
	if err != nil && x.asRoot {
		return fmt.Errorf("set owner: %w", err)
	}
	return nil
}

// wantedXattr lets through file capabilities and what users set. Others steer
// the machine's overlayfs or its security modules.
func wantedXattr(attr string) bool {
	return attr == "security.capability" ||
		(strings.HasPrefix(attr, "user.") && !strings.HasPrefix(attr, "user.overlay."))
}

func setXattr(file, attr string, value []byte) error {
	err := unix.Lsetxattr(file, attr, value, 0)
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EPERM) {
		return nil
	}
	return err
}

func setTime(at place, t time.Time) error {
	ts, err := unix.TimeToTimespec(t)
	if err != nil {
		return nil // Outside of what this machine can represent.
	}
	err = unix.UtimesNanoAt(at.parent, at.base, []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW)
	if err != nil {
		return fmt.Errorf("set time: %w", err)
	}
	return nil
}

func (x *extractor) setDirTimes() error {
	for i := len(x.dirs) - 1; i >= 0; i-- {
		d := x.dirs[i]
		parent, err := x.open(path.Dir(d.name))
		if err != nil {
			continue // It was replaced later in the archive.
		}
		err = setTime(place{parent, path.Base(d.name)}, d.mtime)
		_ = unix.Close(parent)
		if err != nil && !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("directory %q: %w", d.name, err)
		}
	}
	return nil
}

// flush writes the file system of dir to disk, so that a layer whose rename
// survives a power failure is whole.
func flush(dir string) error {
	fd, err := unix.Open(dir, unix.O_DIRECTORY|unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	return unix.Syncfs(fd)
}
