// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// extractor writes a layer's archive under one directory. The archive is not
// trusted: each parent directory is resolved by the kernel with the directory as
// its root (openat2, RESOLVE_IN_ROOT), so that no ".." and no symbolic link of the
// archive leads out, and the last element is never followed.
type extractor struct {
	root int
	// asRoot tells whether owners and devices can be set at all.
	asRoot bool
	buf    []byte
	// dirs get their times last: writing into them changes those.
	dirs []dirTime
}

type dirTime struct {
	name  string
	mtime time.Time
}

// extract unpacks the archive of one layer into dir.
func extract(r io.Reader, dir string) error {
	root, err := unix.Open(dir, unix.O_DIRECTORY|unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(root) }()
	// Staging directories are private; the root of a file system is not.
	if err := unix.Fchmod(root, 0o755); err != nil {
		return err
	}
	x := &extractor{root: root, asRoot: os.Geteuid() == 0, buf: make([]byte, 1<<17)}
	archive := tar.NewReader(r)
	for {
		hdr, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return x.setDirTimes()
		}
		if err != nil {
			return fmt.Errorf("read archive: %w", err)
		}
		if err := x.entry(hdr, archive); err != nil {
			return fmt.Errorf("entry %q: %w", hdr.Name, err)
		}
	}
}

// place is where an entry goes: a name in an open parent directory.
type place struct {
	parent int
	base   string
}

// path is for calls that have no form with a directory.
func (p place) path() string { return fmt.Sprintf("/proc/self/fd/%d/%s", p.parent, p.base) }

func (x *extractor) entry(hdr *tar.Header, content io.Reader) error {
	name, err := inside(hdr.Name)
	if err != nil {
		return err
	}
	switch hdr.Typeflag {
	case tar.TypeXGlobalHeader:
		return nil
	case tar.TypeChar, tar.TypeBlock:
		// The runtime makes the devices that a container may have. A device of the
		// image would be one that nobody allowed, or a forged whiteout.
		return nil
	}
	if isMeta(name) {
		return nil
	}
	if name == "." {
		return x.attributes(place{x.root, "."}, hdr, name)
	}
	parent, err := x.parent(path.Dir(name))
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(parent) }()
	at := place{parent, path.Base(name)}
	if strings.HasPrefix(at.base, whiteoutPrefix) {
		return x.whiteout(name, at)
	}
	if hdr.Typeflag == tar.TypeDir {
		return x.directory(name, at, hdr)
	}
	return x.file(name, at, hdr, content)
}

// inside cleans an entry's name. Absolute names mean the layer's root.
func inside(name string) (string, error) {
	clean := path.Clean(strings.TrimLeft(name, "/"))
	if clean == ".." || strings.HasPrefix(clean, "../") || strings.ContainsRune(name, 0) {
		return "", errors.New("name leads out of the layer")
	}
	return clean, nil
}

// parent opens a directory of the layer, making what is missing of it.
func (x *extractor) parent(dir string) (int, error) {
	fd, err := x.open(dir)
	if !errors.Is(err, unix.ENOENT) {
		return fd, err
	}
	up, err := x.parent(path.Dir(dir))
	if err != nil {
		return -1, err
	}
	defer func() { _ = unix.Close(up) }()
	if err := unix.Mkdirat(up, path.Base(dir), 0o755); err != nil {
		return -1, fmt.Errorf("make parent %q: %w", dir, err)
	}
	return x.open(dir)
}

func (x *extractor) open(dir string) (int, error) {
	return unix.Openat2(x.root, dir, &unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS,
	})
}

func (x *extractor) directory(name string, at place, hdr *tar.Header) error {
	old, err := x.kind(at)
	if err != nil {
		return err
	}
	if old != unix.S_IFDIR {
		if err := x.remove(at); err != nil {
			return err
		}
		if err := unix.Mkdirat(at.parent, at.base, 0o755); err != nil {
			return err
		}
		if old == unix.S_IFCHR {
			// Only a whiteout is a device: the directory hides the lower one.
			if err := setOpaque(at.path()); err != nil {
				return err
			}
		}
	}
	return x.attributes(at, hdr, name)
}

// kind is the S_IFMT type of what is at the place, 0 for nothing.
func (x *extractor) kind(at place) (uint32, error) {
	var st unix.Stat_t
	err := unix.Fstatat(at.parent, at.base, &st, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.ENOENT) {
		return 0, nil
	}
	return st.Mode & unix.S_IFMT, err
}

// remove makes room: within a layer a later entry replaces an earlier one.
func (x *extractor) remove(at place) error {
	err := unix.Unlinkat(at.parent, at.base, 0)
	if errors.Is(err, unix.EISDIR) {
		return os.RemoveAll(at.path())
	}
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}

// file makes everything that is no directory.
func (x *extractor) file(name string, at place, hdr *tar.Header, content io.Reader) error {
	if hdr.Typeflag == tar.TypeLink {
		return x.hardLink(name, at, hdr.Linkname)
	}
	if err := x.remove(at); err != nil {
		return err
	}
	switch hdr.Typeflag {
	case tar.TypeReg, tar.TypeGNUSparse, tar.TypeCont:
		if err := x.write(at, hdr, content); err != nil {
			return err
		}
	case tar.TypeSymlink:
		if err := unix.Symlinkat(hdr.Linkname, at.parent, at.base); err != nil {
			return err
		}
	case tar.TypeFifo:
		if err := unix.Mkfifoat(at.parent, at.base, 0o600); err != nil {
			return err
		}
	default:
		return fmt.Errorf("type %q is not supported", hdr.Typeflag)
	}
	return x.attributes(at, hdr, name)
}

// maxSparse bounds files with holes: they can be of any size in an archive of a few
// bytes, and images should not have them (OCI image layer specification).
const maxSparse = 1 << 30

func (x *extractor) write(at place, hdr *tar.Header, content io.Reader) error {
	sparse := isSparse(hdr)
	if sparse && hdr.Size > maxSparse {
		return fmt.Errorf("sparse file of %d bytes is larger than %d", hdr.Size, maxSparse)
	}
	fd, err := unix.Openat(at.parent, at.base, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	file := os.NewFile(uintptr(fd), at.base)
	to := io.Writer(struct{ io.Writer }{file})
	if sparse {
		to, err = holeWriter{file}, file.Truncate(hdr.Size)
	}
	if err == nil {
		_, err = io.CopyBuffer(to, content, x.buf)
	}
	return errors.Join(err, file.Close())
}

func isSparse(hdr *tar.Header) bool {
	if hdr.Typeflag == tar.TypeGNUSparse {
		return true
	}
	for key := range hdr.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}

// holeWriter leaves out blocks of zeros.
type holeWriter struct{ file *os.File }

// Write implements io.Writer.
func (w holeWriter) Write(p []byte) (int, error) {
	if len(bytes.Trim(p, "\x00")) > 0 {
		return w.file.Write(p)
	}
	_, err := w.file.Seek(int64(len(p)), io.SeekCurrent)
	return len(p), err
}

// hardLink links to a file of this layer. The link has the file's attributes.
func (x *extractor) hardLink(name string, at place, target string) error {
	target, err := inside(target)
	if err != nil {
		return fmt.Errorf("link target: %w", err)
	}
	if target == name {
		return nil
	}
	dir, err := x.open(path.Dir(target))
	if err != nil {
		return fmt.Errorf("link target %q: %w", target, err)
	}
	defer func() { _ = unix.Close(dir) }()
	if kind, err := x.kind(place{dir, path.Base(target)}); err != nil || kind == 0 || kind == unix.S_IFDIR || kind == unix.S_IFCHR {
		return fmt.Errorf("link target %q is no file of this layer", target)
	}
	if err := x.remove(at); err != nil {
		return err
	}
	return unix.Linkat(dir, path.Base(target), at.parent, at.base, 0)
}
