// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Command weir is everything in one binary: Kubernetes API, node, network, controllers and gateway (up), and the commands that
// need none of them.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"

	"weir.dev/internal/cli"
)

func main() {
	pflag.CommandLine = pflag.NewFlagSet(os.Args[0], pflag.ContinueOnError) // Kubernetes' libraries put flags of theirs on all commands
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C does not wait for a clean end
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := cli.New("weir", stdin, stdout, stderr, newUpCommand(), newDownCommand())
	root.SetArgs(args)
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(stderr, "weir:", err)
		return 1
	}
	return 0
}
