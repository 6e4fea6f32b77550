// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Command crdgen writes the CustomResourceDefinitions; run it at the root of
// the repository.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"weir.dev/internal/crdgen"
)

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

func run(args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("crdgen", flag.ContinueOnError)
	flags.SetOutput(stderr)
	out := flags.String("out", "config/crd", "directory to write to")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if err := generate(*out); err != nil {
		_, _ = fmt.Fprintln(stderr, "crdgen:", err)
		return 1
	}
	return 0
}

func generate(out string) error {
	docs, err := crdgen.LoadDocs(".", crdgen.Packages()...)
	if err != nil {
		return err
	}
	for _, kind := range crdgen.Kinds() {
		crd, err := crdgen.Definition(kind, docs)
		if err != nil {
			return err
		}
		file, err := crdgen.YAML(crd)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(out, kind.FileName()), file, 0o644); err != nil {
			return fmt.Errorf("write %s: %w", kind.Kind, err)
		}
	}
	return nil
}
