// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"weir.dev/internal/image"
)

// run executes a command line and returns what it prints.
func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	root := New("weir", nil, &out, io.Discard)
	root.SetArgs(args)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

func TestImageCommands(t *testing.T) {
	data, src := t.TempDir(), t.TempDir()
	if err := os.MkdirAll(filepath.Join(src, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(src, "bin/sh"), []byte("#!"), 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := run(t, "image", "build", "--data-dir", data, src, "--tag", "site", "--entrypoint", "/bin/sh,-c,true")
	if err != nil || !strings.HasPrefix(out, "weir.local/site:latest  sha256:") {
		t.Fatalf("build: %q, %v", out, err)
	}
	out, err = run(t, "image", "import", "--data-dir", data, filepath.Join(data, "images"), "--tag", "copy:v1")
	if err != nil || !strings.HasPrefix(out, "weir.local/copy:v1  sha256:") {
		t.Fatalf("import: %q, %v", out, err)
	}
	out, err = run(t, "image", "ls", "--data-dir", data)
	if err != nil || !strings.Contains(out, "weir.local/site   latest   sha256:") || strings.Count(out, "\n") != 3 {
		t.Errorf("ls: %v\n%s", err, out)
	}
	out, err = run(t, "image", "rm", "--data-dir", data, "site", "nothing", "copy:v1")
	if err == nil || !strings.Contains(err.Error(), "image not found: weir.local/nothing:latest") {
		t.Errorf("rm of a missing image: %v", err)
	}
	if out != "removed site\nremoved copy:v1\n" {
		t.Errorf("rm: %q", out)
	}
	if out, err = run(t, "image", "ls", "--data-dir", data); err != nil || strings.Count(out, "\n") != 1 {
		t.Errorf("ls of an empty store: %v\n%s", err, out)
	}
}

func TestImageBuildWantsATag(t *testing.T) {
	if _, err := run(t, "image", "build", "--data-dir", t.TempDir(), "."); err == nil || !strings.Contains(err.Error(), "tag") {
		t.Errorf("build without a tag: %v", err)
	}
}

func TestPrintImages(t *testing.T) {
	now := time.Unix(1700000000, 0)
	digest := "sha256:" + strings.Repeat("0123456789abcdef", 4)
	var out bytes.Buffer
	err := printImages(&out, []image.Entry{
		{Name: "weir.local/a", Tag: "latest", Digest: digest, Size: 6_812_345, Stored: now.Add(-90 * time.Minute)},
		{Name: "weir.local/a", Digest: digest, Size: 12, Stored: now.Add(-100 * time.Hour)},
		{Name: "weir.local/b", Tag: "v1", Digest: digest, Err: image.ErrPlatform, Stored: now},
	}, now)
	want := strings.Join([]string{
		"NAME           TAG      DIGEST                                                                    SIZE                              AGE",
		"weir.local/a   latest   sha256:0123456789ab                                                       6.8 MB                            1h",
		"weir.local/a   -        " + digest + "   12 B                              4d",
		"weir.local/b   v1       sha256:0123456789ab                                                       (image is for another platform)   0s",
		"",
	}, "\n")
	if err != nil || out.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, out.String(), want)
	}
}
