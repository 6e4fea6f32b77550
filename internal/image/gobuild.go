// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// program is a built executable and its place in the image.
type program struct{ file, target string }

func (p program) add(l *layerWriter) error { return l.copyFile(p.file, p.target, 0o755) }

// buildGo builds the main package in opts.Path as a static executable. remove
// deletes it.
func buildGo(ctx context.Context, opts BuildOptions) (p program, remove func(), err error) {
	g := goCommand{name: opts.Go, dir: opts.Path}
	if g.name == "" {
		g.name = "go"
	}
	list, err := g.run(ctx, "list", "-f", "{{.Name}} {{.ImportPath}}", ".")
	if err != nil {
		return program{}, nil, fmt.Errorf("%s is no Go package (give an entrypoint to make an image of its files): %w", opts.Path, err)
	}
	name, importPath, _ := strings.Cut(strings.TrimSpace(list), " ")
	if name != "main" {
		return program{}, nil, fmt.Errorf("the Go package in %s is %q, not main (give an entrypoint to make an image of its files)", opts.Path, name)
	}
	dir, err := os.MkdirTemp("", "weir-build-*")
	if err != nil {
		return program{}, nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) }
	p = program{file: filepath.Join(dir, "program"), target: "/app/" + programName(importPath)}
	out, err := g.run(ctx, "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid=", "-o", p.file, ".")
	if opts.Output != nil {
		_, _ = opts.Output.Write([]byte(out))
	}
	if err != nil {
		remove()
		return program{}, nil, err
	}
	return p, remove, nil
}

var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// programName is the last element of an import path that is not a major version.
func programName(importPath string) string {
	base := path.Base(importPath)
	if dir := path.Dir(importPath); majorVersion.MatchString(base) && dir != "." {
		base = path.Base(dir)
	}
	if base == "." || base == "/" || base == "command-line-arguments" {
		return "main"
	}
	return base
}

type goCommand struct{ name, dir string }

// run returns the standard output; what the command complains about is in the
// error.
func (g goCommand) run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, g.name, args...)
	cmd.Dir = g.dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "PWD="+g.dir)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("go %s: %w\n%s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String() + stderr.String(), nil
}
