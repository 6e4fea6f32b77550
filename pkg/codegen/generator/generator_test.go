// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"bytes"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden are the outputs whose content is held; the others are held by name.
func golden(name string) bool {
	return strings.HasPrefix(name, "client/") ||
		strings.Contains(name, "/factory/") ||
		strings.HasPrefix(name, "informers/things/v1/box/") ||
		strings.HasPrefix(name, "ducks/") ||
		strings.HasPrefix(name, "reconciler/")
}

// TestGolden holds what is generated. Run it with -update after a change.
func TestGolden(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/kinds.txt")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/golden.txt")
	if err != nil && !*update {
		t.Fatal(err)
	}
	goldenFile, err := filepath.Abs("testdata/golden.txt")
	if err != nil {
		t.Fatal(err)
	}
	inModule(t, archive)

	files, err := Render(testConfig(t))
	if err != nil {
		t.Fatalf("Render: %v", err)
	}
	got := archived(files)
	if *update {
		if err := os.WriteFile(goldenFile, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("output (-want +got):\n%s", d)
	}
}

// TestFacadesAreThin: behaviour belongs to the engine.
func TestFacadesAreThin(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/kinds.txt")
	if err != nil {
		t.Fatal(err)
	}
	inModule(t, archive)
	files, err := Render(testConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]int{}
	for name, content := range files {
		if kind, ok := strings.CutPrefix(filepath.Dir(name), "reconciler/"); ok && !strings.HasSuffix(kind, "/stubs") {
			lines[kind] += bytes.Count(content, []byte("\n"))
		}
	}
	if len(lines) != 5 {
		t.Errorf("generated reconcilers are %v, want five", lines)
	}
	for kind, n := range lines {
		if n > 100 {
			t.Errorf("the reconciler of %s has %d lines, want at most 100", kind, n)
		}
	}
}

// TestMarkersThatCannotBeFollowed: what is not known is an error that names the
// kind, and never left out in silence.
func TestMarkersThatCannotBeFollowed(t *testing.T) {
	tests := map[string]struct {
		reason, markers, want string
	}{
		"SeveralClasses": {"a kind without client has one", "// +genreconciler:class=a,class=b", "need +genclient"},
		"Option":         {"a class that is not seen would take everything", "// +genclient\n// +genreconciler:klass=x", `unknown option "klass"`},
		"EmptyClass":     {"so would one without a name", "// +genclient\n// +genreconciler:class=", "class: an annotation's name is needed"},
		"Flag":           {"only the two words are meant", "// +genclient\n// +genreconciler:krshapedlogic=flase", `want true or false, got "flase"`},
		"Value":          {"the marker itself has none", "// +genclient\n// +genreconciler=false", "unknown marker +genreconciler=false"},
		"Misspelled":     {"the kind would be missing", "// +genclient\n// +genreconcilr", "unknown marker +genreconcilr, want +genreconciler"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			inModule(t, &txtar.Archive{Files: []txtar.File{
				{Name: "go.mod", Data: []byte("module example.com/test\n\ngo 1.26\n")},
				{Name: "apis/things/v1/types.go", Data: []byte("package v1\n\n// Loose is a kind.\n" + tc.markers + "\ntype Loose struct{}\n")},
			}})
			cfg := testConfig(t)
			cfg.InputDirs = []string{"example.com/test/apis/things/v1"}
			_, err := Render(cfg)
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "v1.Loose") {
				t.Errorf("%s: %v, want %q and the kind", tc.reason, err, tc.want)
			}
		})
	}
}

func testConfig(t *testing.T) Config {
	t.Helper()
	cfg, err := ParseFlags([]string{
		"--input-dirs", "example.com/test/apis/things/v1,example.com/test/apis/foreign/v1beta1",
		"--force-genreconciler-kinds", "Widget",
		"--output-package", "example.com/test/client/injection", "--output-dir", "client/injection",
		"--versioned-clientset-package", "example.com/test/client/clientset/versioned",
		"--external-versions-informers-package", "example.com/test/client/informers/externalversions",
		"--listers-package", "example.com/test/client/listers",
		"--plural-exceptions", "Fish:Fish",
	})
	if err != nil {
		t.Fatalf("ParseFlags: %v", err)
	}
	return cfg
}

// inModule makes the archive the working directory.
func inModule(t *testing.T, archive *txtar.Archive) {
	t.Helper()
	dir := t.TempDir()
	for _, file := range archive.Files {
		if err := write(filepath.Join(dir, file.Name), file.Data); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOWORK", "off")
	t.Chdir(dir)
}

func archived(files map[string][]byte) []byte {
	names := slices.Sorted(maps.Keys(files))
	archive := &txtar.Archive{Comment: []byte("Files:\n" + strings.Join(names, "\n") + "\n\n")}
	for _, name := range names {
		if golden(name) {
			archive.Files = append(archive.Files, txtar.File{Name: name, Data: files[name]})
		}
	}
	return txtar.Format(archive)
}

func TestPlural(t *testing.T) {
	for singular, want := range map[string]string{
		"Service": "Services", "Ingress": "Ingresses", "Policy": "Policies", "Gateway": "Gateways",
		"Branch": "Branches", "Bush": "Bushes", "Box": "Boxes", "Shelf": "Shelves", "Knife": "Knives",
		"Endpoints": "Endpoints", "Path": "Paths",
	} {
		if got := plural(singular, map[string]string{"Endpoints": "Endpoints"}); got != want {
			t.Errorf("plural(%s) = %s, want %s", singular, got, want)
		}
	}
}

func TestFlags(t *testing.T) {
	tests := map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"NoInput":   {"there is nothing to do", nil, "--input-dirs"},
		"NoOutput":  {"there is nowhere to go", []string{"--input-dirs=a"}, "--output-package"},
		"NoClients": {"there is nothing to refer to", []string{"--input-dirs=a", "--output-package=b", "--output-dir=c"}, "--versioned-clientset-package"},
		"BadPlural": {"the form is told", []string{"--plural-exceptions=a"}, "Type:Plural"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := ParseFlags(tc.args); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: error is %v, want one about %s", tc.reason, err, tc.want)
			}
		})
	}
}
