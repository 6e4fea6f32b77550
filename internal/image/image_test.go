// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// entry is a tar header with its content.
type entry struct {
	tar.Header
	content string
}

func file(name, content string) entry {
	return entry{tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(content))}, content}
}

func dir(name string) entry {
	return entry{Header: tar.Header{Name: name, Typeflag: tar.TypeDir, Mode: 0o755}}
}

func link(kind byte, name, target string) entry {
	return entry{Header: tar.Header{Name: name, Typeflag: kind, Linkname: target, Mode: 0o777}}
}

func tarball(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, e := range entries {
		if err := w.WriteHeader(&e.Header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func gz(t testing.TB, raw []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	if _, err := w.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// testImage makes an image of uncompressed layers.
func testImage(t testing.TB, layers ...[]byte) v1.Image {
	t.Helper()
	img := mutate.MediaType(empty.Image, types.OCIManifestSchema1)
	img = mutate.ConfigMediaType(img, types.OCIConfigJSON)
	cfg := &v1.ConfigFile{OS: "linux", Architecture: runtime.GOARCH, Config: v1.Config{Entrypoint: []string{"/app"}}}
	img, err := mutate.ConfigFile(img, cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range layers {
		img, err = mutate.AppendLayers(img, static.NewLayer(l, types.OCIUncompressedLayer))
		if err != nil {
			t.Fatal(err)
		}
	}
	return img
}

func openStore(t testing.TB) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "images"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// put stores img under a name without a registry.
func put(t testing.TB, s *Store, ref string, img v1.Image) *Image {
	t.Helper()
	layers, err := img.Layers()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range layers {
		r, err := l.Compressed()
		if err != nil {
			t.Fatal(err)
		}
		d, _ := l.Digest()
		size, _ := l.Size()
		if err := s.putBlob(v1.Descriptor{Digest: d, Size: size}, r); err != nil {
			t.Fatal(err)
		}
	}
	raw, _ := img.RawConfigFile()
	m, err := img.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.putBlob(m.Config, bytes.NewReader(raw)); err != nil {
		t.Fatal(err)
	}
	desc, err := s.putJSON(m.MediaType, m)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ParseReference(ref)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.add(t.Context(), r, desc)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// files lists what is under dir, relative.
func files(t testing.TB, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(p string, _ fs.DirEntry, err error) error {
		if err == nil && p != dir {
			rel, _ := filepath.Rel(dir, p)
			names = append(names, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
