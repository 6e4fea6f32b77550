// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	ggcrtarball "github.com/google/go-containerregistry/pkg/v1/tarball"
)

func TestImportDockerSave(t *testing.T) {
	one, two := testImage(t, tarball(t, file("a", "1"))), testImage(t, tarball(t, file("b", "2")))
	path := filepath.Join(t.TempDir(), "images.tar")
	hub, _ := name.NewTag("nginx:1.2")
	own, _ := name.NewTag("weir.local/two:x")
	if err := ggcrtarball.MultiWriteToFile(path, map[name.Tag]v1.Image{hub: one, own: two}); err != nil {
		t.Fatal(err)
	}
	s := openStore(t)
	got, err := s.Import(t.Context(), path, "")
	if err != nil || len(got) != 2 {
		t.Fatalf("Import: %v, %v", got, err)
	}
	for _, ref := range []string{"nginx:1.2", "weir.local/two:x"} {
		img, err := s.Lookup(ref)
		if err != nil {
			t.Fatal(err)
		}
		if dirs, err := s.Unpack(t.Context(), img); err != nil || len(dirs) != 1 {
			t.Errorf("Unpack %s: %v, %v", ref, dirs, err)
		}
	}
	if _, err := s.Import(t.Context(), path, "x"); err == nil || !strings.Contains(err.Error(), "2 images") {
		t.Errorf("one tag for two images: %v", err)
	}
	if got := files(t, s.path(tmpDir)); len(got) > 2 { // Locks of layers.
		t.Errorf("temporary files are left: %v", got)
	}
}

func TestImportLayout(t *testing.T) {
	img := testImage(t, tarball(t, file("a", "1")))
	dir := t.TempDir()
	l, err := layout.Write(dir, empty.Index)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.AppendImage(img, layout.WithAnnotations(map[string]string{refAnnotation: "latest"})); err != nil {
		t.Fatal(err)
	}
	s := openStore(t)
	if _, err := s.Import(t.Context(), dir, ""); err == nil || !strings.Contains(err.Error(), "no name") {
		t.Errorf("an annotation that is a tag alone: %v", err)
	}
	got, err := s.Import(t.Context(), dir, "a:v1")
	if err != nil || got[0].Ref != "weir.local/a:v1" || got[0].Digest != digestOf(t, img) {
		t.Fatalf("Import: %+v, %v", got, err)
	}
	// A store is a layout with complete names.
	other := openStore(t)
	got, err = other.Import(t.Context(), s.dir, "")
	if err != nil || len(got) != 1 || got[0].Ref != "weir.local/a:v1" {
		t.Errorf("from another store: %+v, %v", got, err)
	}
}

func TestImportBadArchives(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0", 64)
	manifest := `[{"Config":%q,"RepoTags":["x:1"],"Layers":[%q]}]`
	tests := map[string]struct {
		reason  string
		entries []entry
		want    string
	}{
		"empty":        {"no list of images", nil, "neither"},
		"up":           {"names must stay inside", []entry{file("../x", "1")}, "escapes"},
		"link out":     {"links must not lead out", []entry{link(tar.TypeSymlink, "c.json", "/etc/passwd"), file("manifest.json", fmt.Sprintf(manifest, "c.json", "c.json"))}, "not complete"},
		"hard link":    {"nor hard links", []entry{link(tar.TypeLink, "c.json", "../../../../etc/passwd")}, "escapes"},
		"missing":      {"layers that are not there", []entry{file("c.json", "{}"), file("manifest.json", fmt.Sprintf(manifest, "c.json", "l.tar"))}, "not complete"},
		"bad config":   {"not a configuration", []entry{file("c.json", "[]"), file("l.tar", ""), file("manifest.json", fmt.Sprintf(manifest, "c.json", "l.tar"))}, "read blob"},
		"layer count":  {"a configuration of another image", []entry{file("c.json", "{}"), file("l.tar", ""), file("manifest.json", fmt.Sprintf(manifest, "c.json", "l.tar"))}, "1 layers and configuration 0"},
		"missing blob": {"an incomplete layout", []entry{file("index.json", `{"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","size":1,"digest":"`+digest+`"}]}`)}, "not complete"},
		"bad digest":   {"a digest that is a path", []entry{file("index.json", `{"manifests":[{"digest":"sha256:../../../etc/passwd","size":1}]}`)}, "index.json"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.tar")
			if err := os.WriteFile(path, tarball(t, tc.entries...), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := openStore(t).Import(t.Context(), path, "")
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: error %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
	path := filepath.Join(t.TempDir(), "x.txt")
	if err := os.WriteFile(path, []byte(strings.Repeat("this is no archive", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openStore(t).Import(t.Context(), path, ""); err == nil || !strings.Contains(err.Error(), "not an image archive") {
		t.Errorf("a text file: %v", err)
	}
}
