// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package codegen proves that the generators work where authors use them: in a
// module of their own, with the kit beside it, vendored, or in the module cache.
package codegen

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"
)

// kinds are those of each group: an ordinary one, one of the whole cluster, one
// without status and one without a client.
var kinds = map[string]string{
	"Widget": "// +genclient\n// +genreconciler\n// +genreconciler:stubs",
	"Zone":   "// +genclient\n// +genclient:nonNamespaced\n// +genreconciler:class=example.com/class",
	"Bare":   "// +genclient\n// +genreconciler",
	"Loose":  "// +genreconciler",
}

// author is somebody with a module of their own.
type author struct {
	dir, root string
	groups    []string
}

// newAuthor makes the module with that many groups.
func newAuthor(t *testing.T, groups int) *author {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	a := &author{dir: t.TempDir(), root: root, groups: []string{"one", "two", "three", "four", "five"}[:groups]}
	for _, group := range a.groups {
		a.write(t, "apis/"+group+"/v1/doc.go", doc(group))
		a.write(t, "apis/"+group+"/v1/types.go", types(group))
	}
	a.write(t, "header.txt", "// Ours.\n")
	a.write(t, "tools.go", "package tools\n\nimport _ \"weir.dev/pkg/hack\" // the scripts\n")
	a.write(t, "go.mod", fmt.Sprintf(`module example.com/author

go 1.26.0

tool (
	k8s.io/code-generator/cmd/client-gen
	k8s.io/code-generator/cmd/deepcopy-gen
	k8s.io/code-generator/cmd/informer-gen
	k8s.io/code-generator/cmd/lister-gen
	weir.dev/pkg/codegen/cmd/injection-gen
)

require (
	k8s.io/code-generator %s
	weir.dev v0.0.0
)
`, a.kubernetes(t)))
	a.write(t, "apis/uses.go", uses())
	return a
}

// kubernetes is the version of Kubernetes' libraries.
func (a *author) kubernetes(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Version}}", "k8s.io/client-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func (a *author) write(t *testing.T, name, content string) {
	t.Helper()
	path := filepath.Join(a.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// generate calls the scripts as the seed shows.
func (a *author) generate(t *testing.T, scripts string) {
	t.Helper()
	groups := strings.Join(a.groups, ":v1 ") + ":v1"
	const client, apis = "example.com/author/client", "example.com/author/apis"
	a.run(t, "bash", filepath.Join(scripts, "generate-groups.sh"), "deepcopy,client,informer,lister", client, apis, groups, "--go-header-file", "header.txt")
	a.run(t, "bash", filepath.Join(scripts, "generate-knative.sh"), "injection", client, apis, groups, "--go-header-file", "header.txt")
}

func (a *author) run(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = a.dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// snapshot is a digest of all files but those of others.
func (a *author) snapshot(t *testing.T) string {
	t.Helper()
	sum := sha256.New()
	err := filepath.WalkDir(a.dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "vendor":
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		content, err := os.ReadFile(path)
		fmt.Fprintf(sum, "%s %d\n%s", path, len(content), content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// unpackModule makes dir what the module cache would have of the module at root.
func unpackModule(t *testing.T, root, dir string) {
	t.Helper()
	var packed bytes.Buffer
	if err := modzip.CreateFromDir(&packed, module.Version{Path: "weir.dev", Version: "v0.0.0"}, root); err != nil {
		t.Fatal(err)
	}
	files, err := zip.NewReader(bytes.NewReader(packed.Bytes()), int64(packed.Len()))
	if err != nil {
		t.Fatal(err)
	}
	tree, err := fs.Sub(files, "weir.dev@v0.0.0")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, tree); err != nil {
		t.Fatal(err)
	}
}

// readOnly takes the right to write from a tree, until the test ends.
func readOnly(t *testing.T, dir string) {
	t.Helper()
	mode := func(file, folder fs.FileMode) {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return os.Chmod(path, file)
			}
			return os.Chmod(path, folder)
		})
		if err != nil {
			t.Error(err)
		}
	}
	mode(0o444, 0o555)
	t.Cleanup(func() { mode(0o644, 0o755) })
}
