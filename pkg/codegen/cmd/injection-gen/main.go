// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Command injection-gen generates accessors of clients and informers and typed
// facades of reconcilers from the markers on API types.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"weir.dev/pkg/codegen/generator"
)

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

func run(args []string, stderr io.Writer) int {
	cfg, err := generator.ParseFlags(args)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err == nil {
		err = generator.Generate(cfg)
	}
	if err != nil {
		fmt.Fprintf(stderr, "injection-gen: %v\n", err)
		return 1
	}
	return 0
}
