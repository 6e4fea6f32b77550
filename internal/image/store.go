// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

var (
	// ErrNotFound is wrapped by errors about images that are not in the store.
	ErrNotFound = errors.New("image not found")
	// ErrPlatform is wrapped by errors about images that cannot run here.
	ErrPlatform = errors.New("image is for another platform")
)

// Store is a directory of images. Its methods may be called concurrently, also
// from several processes.
type Store struct{ dir string }

// Image is an image of the store, as far as running it needs.
type Image struct {
	// Ref is the complete name under which it was found.
	Ref string
	// Digest is what Ref resolves to and what to pin: of the index if the image
	// came as one, else of the manifest.
	Digest string
	// ManifestDigest is the digest of this platform's manifest.
	ManifestDigest string
	// Config is the image's configuration: entrypoint, environment, user.
	Config v1.ConfigFile
	// Size is the sum of the blobs, in bytes.
	Size int64

	desc     v1.Descriptor
	manifest v1.Manifest
}

// Pinned is the image's name by digest.
func (i *Image) Pinned() string {
	ref, err := ParseReference(i.Ref)
	if err != nil {
		return i.Ref
	}
	return ref.pinned(i.Digest).String()
}

// PinLocal is the name by digest of what ref means now, "" where ref is not a
// local image (see [IsLocal]) or not in the store.
func (s *Store) PinLocal(ref string) string {
	if !IsLocal(ref) {
		return ""
	}
	img, err := s.Lookup(ref)
	if err != nil {
		return ""
	}
	return img.Pinned()
}

// Open opens the store in dir, which is created if it is missing.
func Open(dir string) (*Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open image store: %w", err)
	}
	s := &Store{dir: dir}
	for _, sub := range []string{blobsDir, layersDir, locksDir, tmpDir, holdsDir} {
		if err := os.MkdirAll(s.path(sub), 0o755); err != nil {
			return nil, fmt.Errorf("open image store: %w", err)
		}
	}
	// Layers have set-uid programs that no user of the machine may start.
	if err := os.Chmod(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("open image store: %w", err)
	}
	if _, err := os.Stat(s.path("oci-layout")); errors.Is(err, os.ErrNotExist) {
		if err := s.writeFile("oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`)); err != nil {
			return nil, fmt.Errorf("open image store: %w", err)
		}
	}
	return s, nil
}

const (
	blobsDir  = "blobs/sha256"
	layersDir = "layers"
	locksDir  = "locks"
	tmpDir    = "tmp"
	holdsDir  = "holds"
)

func (s *Store) path(elem ...string) string {
	return filepath.Join(append([]string{s.dir}, elem...)...)
}

// use announces a reader or writer of blobs and layers; until it is unlocked
// nothing unreferenced is collected.
func (s *Store) use(ctx context.Context) (*fileLock, error) {
	return lock(ctx, s.path(locksDir, "use"), shared)
}

// Lookup finds an image of this store by the name that a pod has. It asks no
// registry. The error wraps [ErrNotFound] or [ErrInvalidName].
func (s *Store) Lookup(ref string) (*Image, error) {
	r, err := ParseReference(ref)
	if err != nil {
		return nil, err
	}
	idx, err := s.readIndex()
	if err != nil {
		return nil, err
	}
	return s.find(idx, r)
}

func (s *Store) find(idx *index, r Reference) (*Image, error) {
	for _, e := range idx.entries {
		if !e.ref.sameName(r) || (r.Digest == "" && e.ref.Tag != r.Tag) {
			continue
		}
		if r.Digest != "" && r.Digest != e.desc.Digest.String() && !s.contains(e.desc, r.Digest) {
			continue
		}
		img, err := s.load(e.desc)
		if err != nil {
			return nil, fmt.Errorf("image %s: %w", r, err)
		}
		img.Ref = r.String()
		return img, nil
	}
	return nil, idx.notFound(r)
}

func (r Reference) sameName(o Reference) bool {
	return r.Registry == o.Registry && r.Repository == o.Repository
}

// contains reports whether the index desc lists digest.
func (s *Store) contains(desc v1.Descriptor, digest string) bool {
	if !desc.MediaType.IsIndex() {
		return false
	}
	var m v1.IndexManifest
	if err := s.readJSON(desc.Digest, &m); err != nil {
		return false
	}
	return slices.ContainsFunc(m.Manifests, func(d v1.Descriptor) bool { return d.Digest.String() == digest })
}

// load reads the manifest and configuration that desc leads to on this platform.
func (s *Store) load(desc v1.Descriptor) (*Image, error) {
	img := &Image{Digest: desc.Digest.String(), desc: desc}
	if desc.MediaType.IsIndex() {
		var m v1.IndexManifest
		if err := s.readJSON(desc.Digest, &m); err != nil {
			return nil, err
		}
		child, err := pickPlatform(&m)
		if err != nil {
			return nil, err
		}
		desc = child
	}
	img.ManifestDigest = desc.Digest.String()
	if err := s.readJSON(desc.Digest, &img.manifest); err != nil {
		return nil, err
	}
	if err := s.readJSON(img.manifest.Config.Digest, &img.Config); err != nil {
		return nil, err
	}
	img.Size = desc.Size + img.manifest.Config.Size
	for _, l := range img.manifest.Layers {
		img.Size += l.Size
	}
	return img, img.check()
}

// check refuses what is not an image that this machine can run.
func (i *Image) check() error {
	if mt := i.manifest.Config.MediaType; !mt.IsConfig() {
		return fmt.Errorf("it is not a container image but has a configuration of type %q", mt)
	}
	if len(i.manifest.Layers) != len(i.Config.RootFS.DiffIDs) {
		return fmt.Errorf("manifest has %d layers and configuration %d", len(i.manifest.Layers), len(i.Config.RootFS.DiffIDs))
	}
	c := i.Config
	if (c.OS != "" && c.OS != "linux") || (c.Architecture != "" && c.Architecture != runtime.GOARCH) {
		return fmt.Errorf("%w: it is for %s/%s, this machine runs linux/%s", ErrPlatform, c.OS, c.Architecture, runtime.GOARCH)
	}
	return nil
}

// pickPlatform chooses this machine's manifest from an index.
func pickPlatform(m *v1.IndexManifest) (v1.Descriptor, error) {
	want := v1.Platform{OS: "linux", Architecture: runtime.GOARCH}
	var have []string
	for _, d := range m.Manifests {
		if !d.MediaType.IsImage() {
			continue
		}
		if d.Platform == nil || d.Platform.Satisfies(want) {
			return d, nil
		}
		have = append(have, d.Platform.String())
	}
	return v1.Descriptor{}, fmt.Errorf("%w: it offers %v, this machine runs %s", ErrPlatform, have, want)
}

func (s *Store) readJSON(digest v1.Hash, into any) error {
	raw, err := os.ReadFile(s.blobPath(digest))
	if err != nil {
		return fmt.Errorf("read blob: %w", err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("read blob %s: %w", digest, err)
	}
	return nil
}
