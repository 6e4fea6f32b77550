// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"strings"
	"testing"
)

// BenchmarkStart is what a start of a container costs here when its image is
// present and unpacked.
func BenchmarkStart(b *testing.B) {
	s := openStore(b)
	img := put(b, s, "weir.local/a", testImage(b, tarball(b, file("a", "1")), tarball(b, file("b", "2"))))
	if _, err := s.Unpack(b.Context(), img); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		img, err := s.Lookup("weir.local/a")
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Hold("owner", img); err != nil {
			b.Fatal(err)
		}
		if _, err := s.Unpack(b.Context(), img); err != nil {
			b.Fatal(err)
		}
		if err := s.Release("owner"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkUnpack unpacks a layer of 64 files of 1 MiB.
func BenchmarkUnpack(b *testing.B) {
	s := openStore(b)
	var entries []entry
	for i := range 64 {
		entries = append(entries, file("f"+string(rune('0'+i)), strings.Repeat("weir", 1<<18)))
	}
	img := put(b, s, "weir.local/a", testImage(b, tarball(b, entries...)))
	b.SetBytes(64 << 20)
	for b.Loop() {
		if err := s.extractBlob(b.Context(), img.manifest.Layers[0], img.Config.RootFS.DiffIDs[0], b.TempDir()); err != nil {
			b.Fatal(err)
		}
	}
}
