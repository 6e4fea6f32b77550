// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
)

func TestStoreIsPrivate(t *testing.T) {
	info, err := os.Stat(openStore(t).dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the store has mode %v, %v; its set-uid programs are for containers alone", info.Mode(), err)
	}
}

func TestLookup(t *testing.T) {
	s := openStore(t)
	one := put(t, s, "weir.local/hello:latest", testImage(t, tarball(t, file("a", "1"))))
	put(t, s, "dev.local/team/app:v1", testImage(t, tarball(t, file("a", "2"))))

	for _, ref := range []string{"weir.local/hello", "weir.local/hello:latest", "weir.local/hello@" + one.Digest, "weir.local/hello:gone@" + one.Digest, "dev.local/team/app:v1"} {
		if _, err := s.Lookup(ref); err != nil {
			t.Errorf("Lookup(%s): %v", ref, err)
		}
	}
	for ref, want := range map[string]string{
		"weir.local/hello:v2":                   "the store has weir.local/hello:latest",
		"hello":                                 "did you mean weir.local/hello:latest",
		"dev.local/hello@" + one.Digest:         "did you mean weir.local/hello:latest",
		"weir.local/hello@" + someDigest:        "the store has",
		"weir.local/other":                      "weir image build PATH --tag weir.local/other:latest",
		"registry.example/app":                  "image not found: registry.example/app:latest",
		"dev.local/team/other:v1@" + one.Digest: "not found",
	} {
		_, err := s.Lookup(ref)
		if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), want) {
			t.Errorf("Lookup(%s): %v; want an error with %q", ref, err, want)
		}
	}
	if _, err := s.Lookup("Not A Name"); !errors.Is(err, ErrInvalidName) {
		t.Errorf("Lookup of a bad name: %v", err)
	}
	if got := one.Pinned(); got != "weir.local/hello@"+one.Digest {
		t.Errorf("Pinned() = %s", got)
	}
}

func TestMovedTagKeepsTheOldImageByDigest(t *testing.T) {
	s := openStore(t)
	old := put(t, s, "weir.local/hello", testImage(t, tarball(t, file("a", "old"))))
	now := put(t, s, "weir.local/hello", testImage(t, tarball(t, file("a", "new"))))

	if got, err := s.Lookup("weir.local/hello"); err != nil || got.Digest != now.Digest {
		t.Errorf("the tag leads to %v, %v; want the new image", got, err)
	}
	if _, err := s.Lookup("weir.local/hello@" + old.Digest); err != nil {
		t.Errorf("a revision that pinned the old image cannot find it: %v", err)
	}
	put(t, s, "weir.local/hello", testImage(t, tarball(t, file("a", "old"))))
	entries, err := s.List()
	if err != nil || len(entries) != 2 {
		t.Errorf("after the tag moved back: %v, %v; want two names", entries, err)
	}
}

func TestRemoveDeletesWhatNothingNeeds(t *testing.T) {
	s := openStore(t)
	common := tarball(t, file("common", "x"))
	a := put(t, s, "weir.local/a", testImage(t, common, tarball(t, file("a", "a"))))
	b := put(t, s, "weir.local/b", testImage(t, common, tarball(t, file("b", "b"))))
	dirsA, err := s.Unpack(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	dirsB, err := s.Unpack(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Remove("a"); err != nil {
		t.Fatal(err)
	}
	if exists(dirsA[1]) || !exists(dirsA[0]) || !exists(dirsB[1]) {
		t.Errorf("layers left: own %v, shared %v, other's %v; want only the own one gone", exists(dirsA[1]), exists(dirsA[0]), exists(dirsB[1]))
	}
	if got := len(files(t, s.path(blobsDir))); got != 4 {
		t.Errorf("%d blobs are left, want the 4 of the other image", got)
	}
	if err := s.Remove("a"); !errors.Is(err, ErrNotFound) {
		t.Errorf("second removal: %v", err)
	}
	if err := s.Remove("weir.local/b@" + b.Digest); err != nil {
		t.Fatal(err)
	}
	if got := append(files(t, s.path("blobs", "sha256")), files(t, s.path(layersDir))...); len(got) != 0 {
		t.Errorf("left after all images are gone: %v", got)
	}
	if got := files(t, s.path(tmpDir)); len(got) != 0 {
		t.Errorf("temporary files are left: %v", got)
	}
}

func TestHoldKeepsLayersOfRemovedImage(t *testing.T) {
	s := openStore(t)
	img := put(t, s, "weir.local/a", testImage(t, tarball(t, file("a", "a"))))
	if err := s.Hold("pod-1_app", img); err != nil {
		t.Fatal(err)
	}
	dirs, err := s.Unpack(t.Context(), img)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Remove("weir.local/a"); err != nil {
		t.Fatal(err)
	}
	if !exists(dirs[0]) {
		t.Fatal("the layer of a running container is gone")
	}
	if got, err := s.Holders(); err != nil || got["pod-1_app"] != "weir.local/a:latest" {
		t.Errorf("Holders() = %v, %v", got, err)
	}
	for range 2 { // The second is no error.
		if err := s.Release("pod-1_app"); err != nil {
			t.Fatal(err)
		}
	}
	if exists(dirs[0]) {
		t.Error("the layer is left after the last holder released it")
	}
	if err := s.Hold("pod-2", img); !errors.Is(err, ErrNotFound) {
		t.Errorf("hold of a deleted image: %v", err)
	}
	if err := s.Hold("../x", img); err == nil {
		t.Error("an owner with a slash is accepted")
	}
}

func TestCollectSurvivesADamagedHold(t *testing.T) {
	s := openStore(t)
	if err := os.WriteFile(s.path(holdsDir, "cut-off"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if exists(s.path(holdsDir, "cut-off")) {
		t.Error("the damaged file is left")
	}
}

func TestCollectLeavesWritersAlone(t *testing.T) {
	s := openStore(t)
	use, err := s.use(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.newBlob()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !exists(w.file.Name()) {
		t.Error("the collector deleted a blob that is being written")
	}
	use.unlock()
	if err := s.Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if exists(w.file.Name()) {
		t.Error("a dead writer's file is left")
	}
}

func TestConcurrentNamesAreAllKept(t *testing.T) {
	s := openStore(t)
	img := put(t, s, "weir.local/a", testImage(t))
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			// A store of its own is as good as a process of its own: locks belong to
			// open files.
			other, err := Open(s.dir)
			if err != nil {
				t.Error(err)
				return
			}
			r, _ := ParseReference("weir.local/n" + string(rune('a'+i)))
			if _, err := other.add(t.Context(), r, img.desc); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got, err := s.List(); err != nil || len(got) != 21 {
		t.Errorf("%d names, %v; want 21", len(got), err)
	}
}

func TestDamagedIndexIsAnError(t *testing.T) {
	s := openStore(t)
	if err := os.WriteFile(s.path(indexFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Lookup("weir.local/a"); err == nil || errors.Is(err, ErrNotFound) {
		t.Errorf("Lookup with a damaged index: %v; want another error than not found", err)
	}
}
