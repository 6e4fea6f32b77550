// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
)

// layerWriter writes a layer whose bytes depend on names, contents and
// permissions alone.
type layerWriter struct {
	tar  *tar.Writer
	seen map[string]bool
}

func newLayerWriter(w io.Writer) *layerWriter {
	return &layerWriter{tar: tar.NewWriter(w), seen: map[string]bool{}}
}

// header writes an entry with fixed times, after its parents. name is relative.
func (l *layerWriter) header(h tar.Header) error {
	if err := l.parents(h.Name); err != nil {
		return err
	}
	l.seen[h.Name] = true
	if h.Typeflag == tar.TypeDir {
		h.Name += "/"
	}
	h.ModTime = time.Unix(0, 0)
	return l.tar.WriteHeader(&h)
}

func (l *layerWriter) parents(name string) error {
	dir := path.Dir(name)
	if dir == "." || l.seen[dir] {
		return nil
	}
	return l.header(tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: 0o755})
}

// bytes adds a file unless it is there.
func (l *layerWriter) bytes(name string, mode int64, content string) error {
	if l.seen[name] {
		return nil
	}
	if err := l.header(tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: int64(len(content))}); err != nil {
		return err
	}
	_, err := io.WriteString(l.tar, content)
	return err
}

// copyFile adds a file of the machine as target, an absolute path.
func (l *layerWriter) copyFile(file, target string, mode int64) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return l.copy(f, strings.TrimPrefix(target, "/"), mode)
}

func (l *layerWriter) copy(f fs.File, name string, mode int64) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := l.header(tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: info.Size()}); err != nil {
		return err
	}
	_, err = io.Copy(l.tar, f)
	return err
}

// tree adds all files of dir. They belong to root and nobody else may write
// them: what a umask did to a checkout must not change the digest.
func (l *layerWriter) tree(dir fs.FS) error {
	return fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if strings.HasPrefix(d.Name(), ".wh.") {
			return fmt.Errorf("file %s: names that start with .wh. mean deletions in images", name)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return l.treeEntry(dir, name, info)
	})
}

func (l *layerWriter) treeEntry(dir fs.FS, name string, info fs.FileInfo) error {
	mode := tarMode(info.Mode())
	switch info.Mode().Type() {
	case fs.ModeDir:
		return l.header(tar.Header{Typeflag: tar.TypeDir, Name: name, Mode: mode})
	case fs.ModeSymlink:
		target, err := fs.ReadLink(dir, name)
		if err != nil {
			return err
		}
		return l.header(tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: target, Mode: 0o777})
	case 0:
		f, err := dir.Open(name)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		return l.copy(f, name, mode)
	}
	return fmt.Errorf("file %s: %s cannot be in an image", name, info.Mode().Type())
}

// tarMode keeps who may read and execute, set-id and sticky bits; world-writable
// directories with a sticky bit stay so.
func tarMode(m fs.FileMode) int64 {
	mode := int64(m.Perm())
	if m&fs.ModeSticky == 0 {
		mode &^= 0o022
	}
	for bit, flag := range map[fs.FileMode]int64{fs.ModeSetuid: 0o4000, fs.ModeSetgid: 0o2000, fs.ModeSticky: 0o1000} {
		if m&bit != 0 {
			mode |= flag
		}
	}
	return mode
}

// base adds what programs expect anywhere, where the image has not its own.
func (l *layerWriter) base(caCerts string) error {
	passwd := fmt.Sprintf("root:x:0:0:root:/root:/sbin/nologin\nnobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin\nnonroot:x:%d:%d:nonroot:/home/nonroot:/sbin/nologin\n", nonroot, nonroot)
	group := fmt.Sprintf("root:x:0:\nnobody:x:65534:\nnonroot:x:%d:\n", nonroot)
	if err := l.bytes("etc/passwd", 0o644, passwd); err != nil {
		return err
	}
	if err := l.bytes("etc/group", 0o644, group); err != nil {
		return err
	}
	for _, d := range []tar.Header{
		{Name: "home/nonroot", Mode: 0o700, Uid: nonroot, Gid: nonroot},
		{Name: "tmp", Mode: 0o1777},
	} {
		d.Typeflag = tar.TypeDir
		if l.seen[d.Name] {
			continue
		}
		if err := l.header(d); err != nil {
			return err
		}
	}
	if caCerts == "" {
		return nil
	}
	return l.copyFile(caCerts, "/etc/ssl/certs/ca-certificates.crt", 0o644)
}
