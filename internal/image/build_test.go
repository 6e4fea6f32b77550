// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// writeTree makes files below a new directory; names with a slash at the end are
// directories.
func writeTree(t testing.TB, tree map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range tree {
		p := filepath.Join(root, name)
		if strings.HasSuffix(name, "/") {
			p += "/x"
		}
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			continue
		}
		mode := os.FileMode(0o644)
		if strings.HasPrefix(content, "#!") {
			mode = 0o755
		}
		if err := os.WriteFile(p, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

const helloMain = `package main

import "fmt"

func main() { fmt.Println("hello from the image") }
`

func TestBuildGo(t *testing.T) {
	s := openStore(t)
	var digests []string
	for range 2 { // In different directories.
		path := writeTree(t, map[string]string{"go.mod": "module example.test/hello/v2\n\ngo 1.26\n", "main.go": helloMain})
		img, err := s.Build(t.Context(), BuildOptions{Path: path, Tag: "hello", Env: []string{"A=b"}})
		if err != nil {
			t.Fatal(err)
		}
		digests = append(digests, img.Digest)
	}
	if digests[0] != digests[1] {
		t.Errorf("the same program gave %v", digests)
	}
	img, err := s.Lookup("weir.local/hello")
	if err != nil {
		t.Fatal(err)
	}
	c := img.Config.Config
	if !slices.Equal(c.Entrypoint, []string{"/app/hello"}) || c.User != "65532:65532" || !slices.Contains(c.Env, "A=b") {
		t.Errorf("entrypoint %v, user %s, environment %v", c.Entrypoint, c.User, c.Env)
	}
	dirs, err := s.Unpack(t.Context(), img)
	if err != nil || len(dirs) != 1 {
		t.Fatalf("Unpack: %v, %v", dirs, err)
	}
	out, err := exec.Command(filepath.Join(dirs[0], "app/hello")).CombinedOutput()
	if err != nil || string(out) != "hello from the image\n" {
		t.Errorf("the program says %q, %v", out, err)
	}
	var tmp, home syscall.Stat_t
	if err := syscall.Stat(dirs[0]+"/tmp", &tmp); err != nil || tmp.Mode&0o7777 != 0o1777 {
		t.Errorf("/tmp: mode %o, %v", tmp.Mode, err)
	}
	if err := syscall.Stat(dirs[0]+"/home/nonroot", &home); err != nil || (os.Geteuid() == 0 && home.Uid != nonroot) {
		t.Errorf("/home/nonroot: owner %d, %v", home.Uid, err)
	}
}

func TestBuildGoErrors(t *testing.T) {
	mod := "module example.test/x\n\ngo 1.26\n"
	tests := map[string]struct {
		reason string
		tree   map[string]string
		opts   BuildOptions
		want   string
	}{
		"no package": {"a directory of files wants an entrypoint", map[string]string{"readme": "x"}, BuildOptions{Tag: "x"}, "give an entrypoint"},
		"library":    {"only programs can be started", map[string]string{"go.mod": mod, "x.go": "package x\n"}, BuildOptions{Tag: "x"}, `is "x", not main`},
		"no compile": {"the compiler's words are shown", map[string]string{"go.mod": mod, "x.go": "package main\n\nfunc main() { undefined() }\n"}, BuildOptions{Tag: "x"}, "undefined: undefined"},
		"bad tag":    {"before anything is built", nil, BuildOptions{Tag: "Bad"}, "lower case"},
		"digest":     {"nobody can choose a digest", nil, BuildOptions{Tag: "x@" + someDigest}, "not a digest"},
		"no go":      {"the missing command is named", map[string]string{"go.mod": mod}, BuildOptions{Tag: "x", Go: "/no/such/go"}, "/no/such/go"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.opts.Path = writeTree(t, tc.tree)
			_, err := openStore(t).Build(t.Context(), tc.opts)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: error %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
	if _, err := openStore(t).Build(t.Context(), BuildOptions{Path: "/no/such/dir", Tag: "x"}); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("missing directory: %v", err)
	}
}

func TestBuildDirectory(t *testing.T) {
	s := openStore(t)
	var digests []string
	for i := range 2 {
		path := writeTree(t, map[string]string{"srv/run": "#!/bin/sh\n", "etc/passwd": "own:x:1:1::/:/bin/sh\n", "data/": "", "ca.pem": "pem"})
		if err := os.Symlink("/srv/run", path+"/start"); err != nil {
			t.Fatal(err)
		}
		if i == 1 { // Another umask and other times.
			if err := os.Chmod(path+"/ca.pem", 0o664); err != nil {
				t.Fatal(err)
			}
		}
		img, err := s.Build(t.Context(), BuildOptions{Path: path, Tag: "d:v1", Entrypoint: []string{"/start", "-x"}, User: "0:0", CACerts: path + "/ca.pem"})
		if err != nil {
			t.Fatal(err)
		}
		digests = append(digests, img.Digest)
	}
	if digests[0] != digests[1] {
		t.Errorf("the same files gave %v", digests)
	}
	img, err := s.Lookup("weir.local/d:v1")
	if err != nil || !slices.Equal(img.Config.Config.Entrypoint, []string{"/start", "-x"}) || img.Config.Config.User != "0:0" {
		t.Fatalf("%+v, %v", img, err)
	}
	dirs, err := s.Unpack(t.Context(), img)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(dirs[0] + "/etc/passwd"); err != nil || !strings.HasPrefix(string(got), "own:") {
		t.Errorf("the directory's own passwd became %q, %v", got, err)
	}
	want := []string{"ca.pem", "data", "etc", "etc/group", "etc/passwd", "etc/ssl", "etc/ssl/certs", "etc/ssl/certs/ca-certificates.crt", "home", "home/nonroot", "srv", "srv/run", "start", "tmp"}
	if got := files(t, dirs[0]); !slices.Equal(got, want) {
		t.Errorf("files %v\nwant  %v", got, want)
	}
}

func TestBuildDirectoryErrors(t *testing.T) {
	path := writeTree(t, map[string]string{"bin/sh": "#!x", "plain": "x"})
	for program, want := range map[string]string{
		"/no/such": `entrypoint "/no/such" is not in the directory`,
		"/plain":   "not an executable file",
		"/bin":     "not an executable file",
		"nosh":     "looked for /usr/local/sbin/nosh",
	} {
		_, err := openStore(t).Build(t.Context(), BuildOptions{Path: path, Tag: "x", Entrypoint: []string{program}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("entrypoint %s: %v; want %q", program, err, want)
		}
	}
	for _, program := range []string{"sh", "/bin/sh", "bin/sh"} {
		if _, err := openStore(t).Build(t.Context(), BuildOptions{Path: path, Tag: "x", Entrypoint: []string{program}}); err != nil {
			t.Errorf("entrypoint %s: %v", program, err)
		}
	}
	if err := syscall.Mkfifo(path+"/pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openStore(t).Build(t.Context(), BuildOptions{Path: path, Tag: "x", Entrypoint: []string{"sh"}}); err == nil || !strings.Contains(err.Error(), "pipe") {
		t.Errorf("a pipe in the directory: %v", err)
	}
}
