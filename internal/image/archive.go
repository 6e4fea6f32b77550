// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// archive is an opened image archive: a directory with the files of an OCI
// layout or of "docker save". Its names are not trusted.
type archive struct {
	store *Store
	root  *os.Root
}

// imported is an image whose blobs are stored and the names that its archive
// gives it.
type imported struct {
	desc  v1.Descriptor
	names []Reference
}

// images stores the archive's blobs. What "docker save" writes has complete
// names, so its list goes first where there are both.
func (a *archive) images() ([]imported, error) {
	raw, err := a.root.ReadFile("manifest.json")
	if err == nil {
		return a.docker(raw)
	}
	raw, err = a.root.ReadFile(indexFile)
	if err != nil {
		return nil, errors.New("it is neither an OCI layout (index.json) nor from docker save (manifest.json)")
	}
	var idx v1.IndexManifest
	if err := json.Unmarshal(raw, &idx); err != nil {
		return nil, fmt.Errorf("read index.json: %w", err)
	}
	var found []imported
	for _, d := range idx.Manifests {
		if err := a.copyTree(d); err != nil {
			return nil, err
		}
		found = append(found, imported{desc: bare(d), names: ociNames(d)})
	}
	return found, nil
}

// bare is a descriptor without what an archive's index adds to it.
func bare(d v1.Descriptor) v1.Descriptor {
	return v1.Descriptor{MediaType: d.MediaType, Size: d.Size, Digest: d.Digest}
}

// ociNames finds a complete name among the annotations in use. ref.name often is
// a tag alone, which names nothing.
func ociNames(d v1.Descriptor) []Reference {
	for _, key := range []string{"io.containerd.image.name", refAnnotation} {
		name := d.Annotations[key]
		registry, _, ok := strings.Cut(name, "/")
		if !ok || !isRegistry(registry) {
			continue
		}
		if ref, err := ParseReference(name); err == nil {
			return []Reference{ref}
		}
	}
	return nil
}

func (a *archive) blobName(h v1.Hash) string { return filepath.Join("blobs", h.Algorithm, h.Hex) }

// copyTree stores what desc leads to for this platform.
func (a *archive) copyTree(desc v1.Descriptor) error {
	if err := a.copyBlob(desc); err != nil {
		return err
	}
	if desc.MediaType.IsIndex() {
		var m v1.IndexManifest
		if err := a.store.readJSON(desc.Digest, &m); err != nil {
			return err
		}
		child, err := pickPlatform(&m)
		if err != nil {
			return err
		}
		return a.copyTree(child)
	}
	if !desc.MediaType.IsImage() {
		return fmt.Errorf("%s is no image but %q", desc.Digest, desc.MediaType)
	}
	var m v1.Manifest
	if err := a.store.readJSON(desc.Digest, &m); err != nil {
		return err
	}
	for _, d := range append(m.Layers, m.Config) {
		if err := a.copyBlob(d); err != nil {
			return err
		}
	}
	return nil
}

func (a *archive) copyBlob(desc v1.Descriptor) error {
	if a.store.hasBlob(desc.Digest) {
		return nil
	}
	f, err := a.root.Open(a.blobName(desc.Digest))
	if err != nil {
		return fmt.Errorf("the archive is not complete: %w", err)
	}
	defer func() { _ = f.Close() }()
	return a.store.putBlob(desc, f)
}

// docker stores the images of a "docker save" archive. It has no manifests, so
// they are made here.
func (a *archive) docker(raw []byte) ([]imported, error) {
	var list []struct {
		Config   string
		RepoTags []string
		Layers   []string
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("read manifest.json: %w", err)
	}
	var found []imported
	for _, e := range list {
		m := v1.Manifest{SchemaVersion: 2, MediaType: types.OCIManifestSchema1}
		var err error
		if m.Config, err = a.adopt(e.Config, types.OCIConfigJSON); err != nil {
			return nil, err
		}
		for _, l := range e.Layers {
			layer, err := a.adopt(l, types.OCIUncompressedLayer)
			if err != nil {
				return nil, err
			}
			m.Layers = append(m.Layers, layer)
		}
		desc, err := a.store.putJSON(m.MediaType, m)
		if err != nil {
			return nil, err
		}
		img := imported{desc: desc}
		for _, name := range e.RepoTags {
			ref, err := ParseReference(name)
			if err != nil {
				return nil, err
			}
			img.names = append(img.names, ref)
		}
		found = append(found, img)
	}
	return found, nil
}

// adopt stores a file as the blob that it is.
func (a *archive) adopt(name string, mt types.MediaType) (v1.Descriptor, error) {
	f, err := a.root.Open(name)
	if err != nil {
		return v1.Descriptor{}, fmt.Errorf("the archive is not complete: %w", err)
	}
	defer func() { _ = f.Close() }()
	w, err := a.store.newBlob()
	if err != nil {
		return v1.Descriptor{}, err
	}
	defer w.discard()
	r := bufio.NewReader(f)
	if head, _ := r.Peek(2); bytes.Equal(head, []byte{0x1f, 0x8b}) && mt == types.OCIUncompressedLayer {
		mt = types.OCILayer
	}
	if _, err := io.Copy(w, r); err != nil {
		return v1.Descriptor{}, err
	}
	digest, err := w.commit()
	return v1.Descriptor{MediaType: mt, Digest: digest, Size: w.size}, err
}
