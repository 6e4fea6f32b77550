// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/sys/unix"
)

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("owners, whiteouts and mounts need root")
	}
}

func extractInto(t *testing.T, entries ...entry) (string, error) {
	t.Helper()
	into := t.TempDir()
	return into, extract(bytes.NewReader(tarball(t, entries...)), into)
}

func TestExtractAttributes(t *testing.T) {
	needRoot(t)
	when := time.Unix(1700000000, 0)
	suid := file("bin/su", "#!")
	suid.Mode, suid.Uid, suid.Gid, suid.ModTime = 0o4755, 7, 8, when
	suid.PAXRecords = map[string]string{
		"SCHILY.xattr.user.mine":                         "yes",
		"SCHILY.xattr.security.capability":               "\x01\x00\x00\x02\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
		"SCHILY.xattr.trusted.overlay.opaque":            "y",
		"SCHILY.xattr.user.overlay.opaque":               "y",
		"SCHILY.xattr.trusted.overlay.redirect":          "/etc",
		"SCHILY.xattr.system.posix_acl_access_not_known": "x",
	}
	tmp := dir("tmp/")
	tmp.Mode, tmp.ModTime = 0o1777, when
	into, err := extractInto(t, suid, tmp, file("tmp/x", "x"), link(tar.TypeLink, "bin/sudo", "bin/su"), link(tar.TypeSymlink, "bin/s", "/bin/su"))
	if err != nil {
		t.Fatal(err)
	}
	var st, hard syscall.Stat_t
	if err := errors.Join(syscall.Stat(into+"/bin/su", &st), syscall.Stat(into+"/bin/sudo", &hard)); err != nil {
		t.Fatal(err)
	}
	if st.Mode != syscall.S_IFREG|0o4755 || st.Uid != 7 || st.Gid != 8 || st.Mtim.Sec != when.Unix() || st.Ino != hard.Ino {
		t.Errorf("mode %o owner %d:%d time %d, hard link %v", st.Mode, st.Uid, st.Gid, st.Mtim.Sec, st.Ino == hard.Ino)
	}
	for attr, want := range map[string]bool{"user.mine": true, "security.capability": true, "trusted.overlay.opaque": false, "user.overlay.opaque": false, "trusted.overlay.redirect": false} {
		_, err := unix.Lgetxattr(into+"/bin/su", attr, make([]byte, 64))
		if (err == nil) != want {
			t.Errorf("attribute %s: %v, want it to be there: %v", attr, err, want)
		}
	}
	if err := syscall.Stat(into+"/tmp", &st); err != nil || st.Mode != syscall.S_IFDIR|0o1777 || st.Mtim.Sec != when.Unix() {
		t.Errorf("tmp: mode %o time %d, %v", st.Mode, st.Mtim.Sec, err)
	}
	if target, err := os.Readlink(into + "/bin/s"); target != "/bin/su" {
		t.Errorf("link to %q, %v", target, err)
	}
}

func TestExtractStaysInside(t *testing.T) {
	outside := t.TempDir()
	tests := map[string]struct {
		reason  string
		entries []entry
		err     string
		inside  string
	}{
		"dot dot":          {"names must not climb", []entry{file("../evil", "x")}, "leads out", ""},
		"dot dot within":   {"not even from a directory", []entry{file("a/../../evil", "x")}, "leads out", ""},
		"absolute":         {"absolute names mean the layer", []entry{file("/evil", "x")}, "", "evil"},
		"symlink up":       {"a parent that is a link is resolved in the layer", []entry{link(tar.TypeSymlink, "l", "../../../../../.."), file("l/evil", "x")}, "", "evil"},
		"symlink absolute": {"absolute links mean the layer too", []entry{dir("d"), link(tar.TypeSymlink, "l", "/d"), file("l/evil", "x")}, "", "d/evil"},
		"symlink outside":  {"a link to a place that is only outside leads nowhere", []entry{link(tar.TypeSymlink, "l", outside), file("l/evil", "x")}, "file exists", ""},
		"symlink replaced": {"the last element is replaced, not followed", []entry{link(tar.TypeSymlink, "l", outside+"/evil"), file("l", "x")}, "", "l"},
		"dir over symlink": {"a directory replaces a link", []entry{link(tar.TypeSymlink, "l", outside), dir("l"), file("l/evil", "x")}, "", "l/evil"},
		"hard link up":     {"targets must not climb", []entry{link(tar.TypeLink, "l", "../../etc/passwd")}, "leads out", ""},
		"hard link abs":    {"targets are in the layer", []entry{link(tar.TypeLink, "l", "/etc/passwd")}, "link target", ""},
		"hard via symlink": {"the target's parents are resolved in the layer", []entry{link(tar.TypeSymlink, "e", "/etc"), link(tar.TypeLink, "l", "e/passwd")}, "link target", ""},
		"hard to symlink":  {"it links to the link itself", []entry{link(tar.TypeSymlink, "e", "/etc/passwd"), link(tar.TypeLink, "l", "e")}, "", "l"},
		"proc":             {"magic links are not followed", []entry{link(tar.TypeSymlink, "p", "/proc/self/root"), file("p/evil", "x")}, "file exists", ""},
		"file as parent":   {"it is an error, not a replacement", []entry{file("f", "x"), file("f/g", "y")}, "not a directory", ""},
		"negative owner":   {"-1 means unchanged to the kernel", []entry{{Header: tar.Header{Name: "x", Typeflag: tar.TypeReg, Uid: -1, Format: tar.FormatGNU}}}, "bad owner", ""},
		"whiteout up":      {"whiteouts are names too", []entry{file("a/.wh...", "")}, "whiteout of nothing", ""},
		"self link":        {"it must not delete its target", []entry{file("x", "1"), link(tar.TypeLink, "x", "./x")}, "", "x"},
		"unknown type":     {"what is not understood is not skipped", []entry{{Header: tar.Header{Name: "x", Typeflag: 'Z'}}}, "not supported", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			into, err := extractInto(t, tc.entries...)
			switch {
			case tc.err == "" && err != nil:
				t.Errorf("%s: %v", tc.reason, err)
			case tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)):
				t.Errorf("%s: error %v, want %q", tc.reason, err, tc.err)
			}
			if tc.inside != "" && !exists(filepath.Join(into, tc.inside)) {
				t.Errorf("%s: no %s in %v", tc.reason, tc.inside, files(t, into))
			}
			if exists(filepath.Join(filepath.Dir(into), "evil")) || len(files(t, outside)) != 0 || exists("/evil") {
				t.Fatalf("%s: the archive wrote outside", tc.reason)
			}
		})
	}
}

func TestExtractSkipsDevices(t *testing.T) {
	into, err := extractInto(t,
		entry{Header: tar.Header{Name: "dev/sda", Typeflag: tar.TypeBlock, Devmajor: 8, Mode: 0o666}},
		entry{Header: tar.Header{Name: "dev/null", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 3, Mode: 0o666}},
		entry{Header: tar.Header{Name: "forged", Typeflag: tar.TypeChar, Mode: 0o666}},
		entry{Header: tar.Header{Name: "pipe", Typeflag: tar.TypeFifo, Mode: 0o600}},
	)
	if got := files(t, into); err != nil || len(got) != 1 || got[0] != "pipe" {
		t.Errorf("extracted %v, %v; want the pipe alone", got, err)
	}
}

// sparse is a file of size zeros in an archive of two blocks: the old GNU format,
// which archive/tar reads but does not write.
func sparse(t *testing.T, size int64) []byte {
	t.Helper()
	raw := tarball(t, entry{Header: tar.Header{Name: "holes", Typeflag: tar.TypeReg, Format: tar.FormatGNU}})
	raw[156] = tar.TypeGNUSparse
	copy(raw[386:], fmt.Appendf(nil, "%011o\x00%011o\x00", size, 0)) // One part of no bytes, at the end.
	copy(raw[483:], fmt.Appendf(nil, "%011o\x00", size))
	sum := 0
	for i, b := range raw[:512] {
		if i >= 148 && i < 156 {
			b = ' '
		}
		sum += int(b)
	}
	copy(raw[148:], fmt.Appendf(nil, "%06o\x00 ", sum))
	return raw
}

func TestExtractSparse(t *testing.T) {
	into := t.TempDir()
	if err := extract(bytes.NewReader(sparse(t, 1<<24)), into); err != nil {
		t.Fatal(err)
	}
	var st syscall.Stat_t
	if err := syscall.Stat(into+"/holes", &st); err != nil || st.Size != 1<<24 || st.Blocks > 64 {
		t.Errorf("size %d in %d blocks, %v", st.Size, st.Blocks, err)
	}
	if err := extract(bytes.NewReader(sparse(t, 1<<32)), t.TempDir()); err == nil || !strings.Contains(err.Error(), "sparse") {
		t.Errorf("4 GiB of nothing: %v", err)
	}
}

func TestExtractLaterEntryReplaces(t *testing.T) {
	into, err := extractInto(t, dir("d"), file("d/x", "1"), file("d", "now a file"), file("f", "1"), file("f", "2"))
	if err != nil {
		t.Fatal(err)
	}
	d, _ := os.ReadFile(into + "/d")
	f, _ := os.ReadFile(into + "/f")
	if string(d) != "now a file" || string(f) != "2" {
		t.Errorf("d is %q, f is %q", d, f)
	}
}

// TestWhiteoutsInOverlay mounts what Unpack made: the kernel judges.
func TestWhiteoutsInOverlay(t *testing.T) {
	needRoot(t)
	s := openStore(t)
	img := put(t, s, "weir.local/w", testImage(t,
		tarball(t, file("gone", "1"), file("kept", "1"), dir("d"), file("d/lower", "1"), dir("e"), file("e/lower", "1"), dir("f"), file("f/lower", "1"), dir("g"), file("g/lower", "1")),
		tarball(t,
			file(".wh.gone", ""),
			dir("d"), file("d/upper", "2"), file("d/.wh..wh..opq", ""), // opaque after content
			file(".wh.e", ""), dir("e"), file("e/upper", "2"), // removed, then made anew
			dir("f"), file("f/upper", "2"), file(".wh.f", ""), // the other order
			file("both", "2"), file(".wh.both", ""), // hides lower ones only
			file(".wh..wh.plnk/1.2", ""), file(".wh.never", ""), // meta, and nothing to hide
		),
		tarball(t, file("g/.wh.lower", "")),
	))
	dirs, err := s.Unpack(t.Context(), img)
	if err != nil || len(dirs) != 3 {
		t.Fatalf("Unpack: %v, %v", dirs, err)
	}
	got := overlay(t, dirs)
	want := "both d d/upper e e/upper f f/upper g kept"
	if strings.Join(got, " ") != want {
		t.Errorf("merged: %v\nwant    %s", got, want)
	}
}

// overlay lists the files of the merged directories, the lowest first.
func overlay(t *testing.T, dirs []string) []string {
	t.Helper()
	at, lower := t.TempDir(), ""
	for _, d := range dirs {
		lower = ":" + d + lower
	}
	if len(dirs) == 1 { // A mount without an upper directory wants two.
		lower += ":" + t.TempDir()
	}
	if err := unix.Mount("overlay", at, "overlay", unix.MS_RDONLY, "lowerdir="+lower[1:]); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Unmount(at, 0); err != nil {
			t.Error(err)
		}
	}()
	return files(t, at)
}

func TestUnpackOpaqueRootAndEqualLayers(t *testing.T) {
	needRoot(t)
	s := openStore(t)
	a, b := tarball(t, file("a", "")), tarball(t, file("b", ""))
	dirs, err := s.Unpack(t.Context(), put(t, s, "weir.local/eq", testImage(t, a, b, a)))
	if err != nil || len(dirs) != 2 || strings.Join(overlay(t, dirs), " ") != "a b" {
		t.Errorf("equal layers: %v, %v", dirs, err)
	}
	img := put(t, s, "weir.local/op", testImage(t, a, tarball(t, file(".wh..wh..opq", ""), file("c", ""))))
	dirs, err = s.Unpack(t.Context(), img)
	if err != nil || strings.Join(overlay(t, dirs), " ") != "c" {
		t.Errorf("opaque root: %v, %v", dirs, err)
	}
	dirs, err = s.Unpack(t.Context(), put(t, s, "weir.local/none", testImage(t)))
	if err != nil || len(dirs) != 1 || len(files(t, dirs[0])) != 0 {
		t.Errorf("no layers: %v, %v; want one empty directory", dirs, err)
	}
}

func TestUnpackOnceByMany(t *testing.T) {
	s := openStore(t)
	img := put(t, s, "weir.local/a", testImage(t, tarball(t, file("a", strings.Repeat("x", 1<<20)))))
	inodes := make([]uint64, 16)
	var wg sync.WaitGroup
	for i := range inodes {
		wg.Go(func() {
			other, err := Open(s.dir)
			if err != nil {
				t.Error(err)
				return
			}
			dirs, err := other.Unpack(t.Context(), img)
			if err != nil {
				t.Error(err)
				return
			}
			var st syscall.Stat_t
			if err := syscall.Stat(dirs[0]+"/a", &st); err != nil || st.Size != 1<<20 {
				t.Errorf("stat: %v, size %d", err, st.Size)
			}
			inodes[i] = st.Ino
		})
	}
	wg.Wait()
	for _, ino := range inodes {
		if ino != inodes[0] {
			t.Fatalf("the layer was unpacked more than once: %v", inodes)
		}
	}
}

func TestUnpackRefusesWrongContent(t *testing.T) {
	s := openStore(t)
	img := put(t, s, "weir.local/a", testImage(t, tarball(t, file("a", "1"))))
	blob := s.blobPath(img.manifest.Layers[0].Digest)
	if err := os.WriteFile(blob, tarball(t, file("a", "2")), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Unpack(t.Context(), img); err == nil || !strings.Contains(err.Error(), "configuration says") {
		t.Errorf("Unpack of a changed layer: %v", err)
	}
	if got := files(t, s.path(layersDir)); len(got) != 0 {
		t.Errorf("left behind: %v", got)
	}
}

func TestUnpackCompressions(t *testing.T) {
	raw := tarball(t, file("a", strings.Repeat("hello ", 1000)))
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, blob := range map[string][]byte{"gzip": gz(t, raw), "zstd": enc.EncodeAll(raw, nil), "none": raw} {
		t.Run(name, func(t *testing.T) {
			s := openStore(t)
			diffID, _, _ := v1.SHA256(bytes.NewReader(raw))
			digest, size, _ := v1.SHA256(bytes.NewReader(blob))
			desc := v1.Descriptor{Digest: digest, Size: size}
			if err := s.putBlob(desc, bytes.NewReader(blob)); err != nil {
				t.Fatal(err)
			}
			if err := s.unpackLayer(t.Context(), desc, diffID); err != nil {
				t.Error(err)
			}
		})
	}
}

func FuzzExtract(f *testing.F) {
	f.Add(tarball(f, dir("d"), file("d/x", "1"), link(tar.TypeSymlink, "l", "../.."), file("l/.wh.x", "")))
	f.Fuzz(func(t *testing.T, raw []byte) {
		parent := t.TempDir()
		into := filepath.Join(parent, "root")
		if err := os.Mkdir(into, 0o755); err != nil {
			t.Fatal(err)
		}
		_ = extract(bytes.NewReader(raw), into)
		if got, _ := os.ReadDir(parent); len(got) != 1 {
			t.Fatalf("the archive wrote outside: %v", got)
		}
	})
}
