// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"cmp"
	"slices"
	"time"
)

// Entry is a name in the store.
type Entry struct {
	// Ref is the complete reference; Name and Tag are its parts. Tag is empty for
	// an image that lost its tag to a newer one.
	Ref, Name, Tag string
	// Digest is what the reference resolves to.
	Digest string
	// Size is the sum of the blobs in bytes, also counted in images that share them.
	Size int64
	// Stored is when the image got this name.
	Stored time.Time
	// Err says why the image cannot be run, nil if it can.
	Err error
}

// List lists all names, sorted.
func (s *Store) List() ([]Entry, error) {
	idx, err := s.readIndex()
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, 0, len(idx.entries))
	for _, e := range idx.entries {
		entry := Entry{
			Ref: e.ref.String(), Name: e.ref.Name(), Tag: e.ref.Tag,
			Digest: e.desc.Digest.String(), Stored: e.stored(),
		}
		img, err := s.load(e.desc)
		entry.Err = err
		if err == nil {
			entry.Size = img.Size
		}
		entries = append(entries, entry)
	}
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Ref, b.Ref) })
	return entries, nil
}
