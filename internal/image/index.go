// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const (
	indexFile = "index.json"
	// refAnnotation holds the complete reference (OCI image layout, "index.json").
	refAnnotation = "org.opencontainers.image.ref.name"
	// storedAnnotation holds when the name was last given, RFC 3339.
	storedAnnotation = "dev.weir.image.stored"
)

// index is the content of index.json: which names the store has.
type index struct{ entries []indexEntry }

type indexEntry struct {
	ref  Reference
	desc v1.Descriptor
}

func (e indexEntry) stored() time.Time {
	t, _ := time.Parse(time.RFC3339, e.desc.Annotations[storedAnnotation])
	return t
}

func (s *Store) readIndex() (*index, error) {
	raw, err := os.ReadFile(s.path(indexFile))
	if errors.Is(err, os.ErrNotExist) {
		return &index{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read image index: %w", err)
	}
	var m v1.IndexManifest
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, fmt.Errorf("read image index %s: %w", s.path(indexFile), err)
	}
	idx := &index{}
	for _, d := range m.Manifests {
		if ref, err := ParseReference(d.Annotations[refAnnotation]); err == nil {
			idx.entries = append(idx.entries, indexEntry{ref: ref, desc: d})
		}
	}
	return idx, nil
}

// updateIndex changes index.json while nobody else does. The caller holds the
// use lock.
func (s *Store) updateIndex(ctx context.Context, change func(*index) error) error {
	l, err := lock(ctx, s.path(locksDir, "index"), exclusive)
	if err != nil {
		return err
	}
	defer l.unlock()
	idx, err := s.readIndex()
	if err != nil {
		return err
	}
	if err := change(idx); err != nil {
		return err
	}
	m := v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: []v1.Descriptor{}}
	for _, e := range idx.entries {
		m.Manifests = append(m.Manifests, e.desc)
	}
	raw, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("encode image index: %w", err)
	}
	if err := s.writeFile(indexFile, raw); err != nil {
		return fmt.Errorf("write image index: %w", err)
	}
	return nil
}

// name gives desc the name ref. The image that had the name before keeps one by
// digest, because revisions pin digests and go on to run it.
func (x *index) name(ref Reference, desc v1.Descriptor, now time.Time) {
	if ref.Digest != "" {
		ref = ref.pinned(desc.Digest.String())
	}
	desc.Annotations = map[string]string{
		refAnnotation:    ref.String(),
		storedAnnotation: now.UTC().Format(time.RFC3339),
	}
	old := slices.IndexFunc(x.entries, func(e indexEntry) bool { return e.ref == ref })
	if old >= 0 && x.entries[old].desc.Digest != desc.Digest {
		x.pin(x.entries[old])
	}
	x.entries = slices.DeleteFunc(x.entries, func(e indexEntry) bool {
		// A tag makes the name by digest needless.
		return e.ref == ref || (ref.Tag != "" && e.ref == ref.pinned(desc.Digest.String()))
	})
	x.entries = append(x.entries, indexEntry{ref: ref, desc: desc})
}

func (x *index) pin(e indexEntry) {
	e.ref = e.ref.pinned(e.desc.Digest.String())
	e.desc.Annotations = map[string]string{
		refAnnotation:    e.ref.String(),
		storedAnnotation: e.desc.Annotations[storedAnnotation],
	}
	if !slices.ContainsFunc(x.entries, func(o indexEntry) bool { return o.ref == e.ref }) {
		x.entries = append(x.entries, e)
	}
}

// remove drops the names that ref stands for: the tag, or everything in the
// repository with the digest. It reports whether there was one.
func (x *index) remove(ref Reference) bool {
	before := len(x.entries)
	x.entries = slices.DeleteFunc(x.entries, func(e indexEntry) bool {
		if ref.Digest != "" {
			return e.ref.sameName(ref) && e.desc.Digest.String() == ref.Digest
		}
		return e.ref == ref
	})
	return len(x.entries) != before
}

// notFound says what was looked for, and what the user may have meant.
func (x *index) notFound(r Reference) error {
	local := r
	local.Registry = LocalRegistry
	if r.Registry == dockerHub {
		local.Repository = trimLibrary(r.Repository)
	}
	for _, e := range x.entries {
		if e.ref.sameName(local) && e.ref.sameName(r) {
			return fmt.Errorf("%w: %s (the store has %s)", ErrNotFound, r, e.ref)
		}
		if e.ref.sameName(local) {
			return fmt.Errorf("%w: %s (did you mean %s, which is in the store?)", ErrNotFound, r, e.ref)
		}
	}
	if r.isLocal() {
		return fmt.Errorf("%w: %s (build it with: weir image build PATH --tag %s)", ErrNotFound, r, r)
	}
	return fmt.Errorf("%w: %s", ErrNotFound, r)
}

func trimLibrary(repo string) string { return strings.TrimPrefix(repo, "library/") }
