// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Import takes images from a file or directory: an OCI layout, or what "docker
// save" writes. tag names the image and is needed where the archive has none; it
// can be given only for an archive of one image.
func (s *Store) Import(ctx context.Context, path, tag string) ([]*Image, error) {
	use, err := s.use(ctx)
	if err != nil {
		return nil, err
	}
	defer use.unlock()
	images, err := s.importFrom(ctx, path, tag)
	if err != nil {
		return nil, fmt.Errorf("import %s: %w", path, err)
	}
	return images, nil
}

func (s *Store) importFrom(ctx context.Context, path, tag string) ([]*Image, error) {
	dir, remove, err := s.openArchive(ctx, path)
	if err != nil {
		return nil, err
	}
	defer remove()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	found, err := (&archive{store: s, root: root}).images()
	if err != nil {
		return nil, err
	}
	if tag != "" && len(found) != 1 {
		return nil, fmt.Errorf("it has %d images, so they cannot all be named %s", len(found), tag)
	}
	var images []*Image
	for _, f := range found {
		if tag != "" {
			ref, err := ParseLocalReference(tag)
			if err != nil {
				return nil, err
			}
			f.names = []Reference{ref}
		}
		named, err := s.addImported(ctx, f)
		if err != nil {
			return nil, err
		}
		images = append(images, named...)
	}
	return images, nil
}

func (s *Store) addImported(ctx context.Context, f imported) ([]*Image, error) {
	if len(f.names) == 0 {
		return nil, fmt.Errorf("the archive has no name for %s: give one", f.desc.Digest)
	}
	var images []*Image
	for _, ref := range f.names {
		img, err := s.add(ctx, ref, f.desc)
		if err != nil {
			return nil, err
		}
		images = append(images, img)
	}
	return images, nil
}

// openArchive gives a directory with the archive's files.
func (s *Store) openArchive(ctx context.Context, path string) (dir string, remove func(), err error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", nil, err
	}
	if info.IsDir() {
		return path, func() {}, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = file.Close() }()
	plain, err := decompress(bufio.NewReaderSize(&ctxReader{ctx, file}, 1<<17))
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = plain.Close() }()
	if dir, err = os.MkdirTemp(s.path(tmpDir), "import-*"); err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) }
	if err := spread(plain, dir); err != nil {
		remove()
		return "", nil, err
	}
	return dir, remove, nil
}

// spread writes an archive's files and links into dir, and not out of it.
func spread(r io.Reader, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	t := tar.NewReader(r)
	for {
		hdr, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("not an image archive: %w", err)
		}
		if err := spreadEntry(root, hdr, t); err != nil {
			return fmt.Errorf("entry %q: %w", hdr.Name, err)
		}
	}
}

func spreadEntry(root *os.Root, hdr *tar.Header, content io.Reader) error {
	name := filepath.Clean(hdr.Name)
	if hdr.Typeflag == tar.TypeDir {
		return root.MkdirAll(name, 0o700)
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	switch hdr.Typeflag {
	case tar.TypeSymlink:
		return root.Symlink(hdr.Linkname, name)
	case tar.TypeLink:
		return root.Link(filepath.Clean(hdr.Linkname), name)
	case tar.TypeReg:
		f, err := root.Create(name)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, content)
		return errors.Join(err, f.Close())
	}
	return nil
}
