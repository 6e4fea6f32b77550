// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package arch holds the rules of who may import whom (CONTRIBUTING.md), each with its reason.
package arch

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// rule forbids packages below from to import packages below any of not, except those below but.
type rule struct {
	from   string
	not    []string
	but    []string
	reason string
}

const kubernetes = "k8s.io/kubernetes"

var rules = []rule{
	{
		from: "weir.dev/api", not: []string{"k8s.io/client-go", "weir.dev/internal", "weir.dev/client", "weir.dev/pkg/controller"},
		reason: "clients of the types stay light",
	},
	{
		from: "weir.dev/pkg", not: []string{"weir.dev/api", "weir.dev/client", "weir.dev/internal", "weir.dev/config"},
		reason: "the kit serves any kind, not ours",
	},
	{
		from: "weir.dev/internal/autoscaler/decide", not: []string{"k8s.io", "weir.dev", "sync", "context", "os", "net"},
		reason: "a decision is provable alone: no Kubernetes, no goroutine, no I/O",
	},
	{
		from: "weir.dev/internal/gateway/route", not: []string{"k8s.io", "weir.dev", "sync", "context", "os"},
		reason: "routing is provable alone",
	},
	{
		from: "weir.dev/internal/gateway", not: []string{"k8s.io"},
		reason: "the gateway sees snapshots of the feed only, and stays small",
	},
	{
		from: "weir.dev/internal/image", not: []string{"k8s.io/client-go", "k8s.io/apiserver", "weir.dev/client"},
		reason: "images need neither API server nor controllers",
	},
	{
		from: "weir.dev/embedded/cluster", not: []string{"weir.dev"}, but: []string{"weir.dev/embedded/cluster"},
		reason: "the embedded Kubernetes knows no Knative",
	},
	{
		from: "weir.dev/embedded/node", not: []string{kubernetes, "k8s.io/apiserver", "weir.dev/embedded", "weir.dev/client"},
		but:    []string{"weir.dev/embedded/node"},
		reason: "a node agent needs neither API server nor controllers",
	},
	{
		from: "weir.dev/embedded/network", not: []string{kubernetes, "weir.dev"}, but: []string{"weir.dev/embedded/network"},
		reason: "the network serves any pods",
	},
	{
		from: "weir.dev/internal", not: []string{"weir.dev/embedded", kubernetes},
		reason: "the root module stays lean and importable",
	},
}

type pkg struct {
	ImportPath string
	Imports    []string
}

func TestImports(t *testing.T) {
	pkgs := list(t, "../..")
	pkgs = append(pkgs, list(t, "../../embedded")...)
	for _, p := range pkgs {
		for _, r := range rules {
			r.check(t, p)
		}
		checkControlplane(t, p)
	}
}

func (r rule) check(t *testing.T, p pkg) {
	t.Helper()
	if !below(p.ImportPath, r.from) {
		return
	}
	for _, i := range p.Imports {
		if anyBelow(i, r.not) && !anyBelow(i, r.but) && !below(i, r.from) {
			t.Errorf("%s imports %s: %s", p.ImportPath, i, r.reason)
		}
	}
}

// checkControlplane keeps the packages of one kind apart: kinds talk through the API.
func checkControlplane(t *testing.T, p pkg) {
	t.Helper()
	const root = "weir.dev/internal/controlplane/"
	kinds := []string{"service", "configuration", "revision", "route", "ingress", "gc"}
	kind := func(path string) string {
		rest, ok := strings.CutPrefix(path, root)
		if !ok {
			return ""
		}
		first, _, _ := strings.Cut(rest, "/")
		for _, k := range kinds {
			if k == first {
				return k
			}
		}
		return ""
	}
	from := kind(p.ImportPath)
	if from == "" {
		return
	}
	for _, i := range p.Imports {
		if to := kind(i); to != "" && to != from {
			t.Errorf("%s imports %s: kinds talk through the API", p.ImportPath, i)
		}
	}
}

func below(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }

func anyBelow(path string, roots []string) bool {
	for _, r := range roots {
		if below(path, r) {
			return true
		}
	}
	return false
}

// list gives the packages of the module in dir with their direct imports.
func list(t *testing.T, dir string) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Imports", "./...")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list in %s: %v", dir, err)
	}
	var pkgs []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
	if len(pkgs) == 0 {
		t.Fatalf("no package found in %s", dir)
	}
	return pkgs
}
