// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package codegen

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestGenerate generates for five groups of four kinds, from wherever the kit
// may be, and builds what came of it.
func TestGenerate(t *testing.T) {
	if testing.Short() {
		t.Skip("runs all generators and builds what they made")
	}
	tests := map[string]struct {
		reason string
		groups int
		kit    func(*testing.T, *author) string // the directory of the kit's scripts
		build  bool                             // not vendored code: all that it imports would be compiled anew
	}{
		"Checkout":    {"beside a checkout of the kit", 5, checkout, true},
		"Vendor":      {"from a vendor directory", 1, vendored, false},
		"ModuleCache": {"from the module cache, which is read-only", 1, cached, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			a := newAuthor(t, tc.groups)
			scripts := tc.kit(t, a)
			start := time.Now()
			a.generate(t, scripts)
			t.Logf("%s: %d groups of %d kinds in %v", tc.reason, tc.groups, len(kinds), time.Since(start).Round(time.Second))
			if tc.build {
				a.run(t, "go", "build", "./...")
			}
			a.check(t)

			before := a.snapshot(t)
			start = time.Now()
			a.generate(t, scripts)
			t.Logf("%s: once more, warm, in %v", tc.reason, time.Since(start).Round(100*time.Millisecond))
			if after := a.snapshot(t); after != before {
				t.Errorf("%s: a second run changes what the first made", tc.reason)
			}
		})
	}
}

// checkout is the kit as a replaced module.
func checkout(t *testing.T, a *author) string {
	a.run(t, "go", "mod", "edit", "-replace", "weir.dev="+a.root)
	a.run(t, "go", "mod", "tidy")
	return filepath.Join(a.root, "pkg", "hack")
}

func vendored(t *testing.T, a *author) string {
	checkout(t, a)
	a.run(t, "go", "mod", "vendor")
	if err := os.Chmod(a.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(a.dir, "vendor", "weir.dev", "pkg", "hack")
}

// cached is the kit as the module cache has it: packed, unpacked, read-only.
func cached(t *testing.T, a *author) string {
	dir := filepath.Join(t.TempDir(), "weir.dev@v0.0.0")
	unpackModule(t, a.root, dir)
	a.run(t, "go", "mod", "edit", "-replace", "weir.dev="+dir)
	a.run(t, "go", "mod", "tidy")
	readOnly(t, dir)
	return filepath.Join(dir, "pkg", "hack")
}

// check holds what must be there.
func (a *author) check(t *testing.T) {
	t.Helper()
	for _, want := range []string{
		"apis/one/v1/zz_generated.deepcopy.go",
		"client/clientset/versioned/typed/one/v1/widget.go",
		"client/listers/one/v1/widget.go",
		"client/informers/externalversions/one/v1/widget.go",
		"client/injection/client/fake/fake.go",
		"client/injection/informers/one/v1/widget/filtered/fake/fake.go",
		"client/injection/reconciler/one/v1/widget/controller.go",
		"client/injection/reconciler/one/v1/widget/stubs/reconciler.go",
		"client/injection/reconciler/one/v1/zone/reconciler.go",
		"client/injection/reconciler/one/v1/bare/reconciler.go",
		"client/injection/reconciler/one/v1/loose/controller.go",
	} {
		if _, err := os.Stat(filepath.Join(a.dir, want)); err != nil {
			t.Errorf("was not generated: %v", err)
		}
	}
}

// TestWrongGroupWipesNothing: what was generated stays when the next run is
// asked for what is not there.
func TestWrongGroupWipesNothing(t *testing.T) {
	a := newAuthor(t, 1)
	scripts := checkout(t, a)
	a.write(t, "client/injection/client/client.go", "package client\n")
	a.write(t, "client/clientset/versioned/clientset.go", "package versioned\n")
	before := a.snapshot(t)
	for script, generators := range map[string]string{"generate-groups.sh": "all", "generate-knative.sh": "injection"} {
		cmd := exec.CommandContext(t.Context(), "bash", filepath.Join(scripts, script), generators, "example.com/author/client", "example.com/author/apis", "won:v1")
		cmd.Dir, cmd.Env = a.dir, append(os.Environ(), "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "apis/won/v1") {
			t.Errorf("%s: %v, want an error that names what is not there:\n%s", script, err, out)
		}
	}
	if after := a.snapshot(t); after != before {
		t.Error("a run that failed changed what was there")
	}
}

// TestScriptsSayHow: called without what they need, the scripts say how to call them.
func TestScriptsSayHow(t *testing.T) {
	for _, script := range []string{"generate-groups.sh", "generate-knative.sh"} {
		out, err := exec.CommandContext(t.Context(), "bash", filepath.Join("..", "..", "pkg", "hack", script)).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "<client package> <APIs package>") {
			t.Errorf("%s: %v, %s", script, err, out)
		}
	}
}
