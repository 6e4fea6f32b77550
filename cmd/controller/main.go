// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Command controller runs Weir's control plane: the reconcilers of all kinds, the autoscaler, the feed that gateways follow,
// and admission. --help lists what it needs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"weir.dev/internal/controlplane"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stderr)) //nolint:gocritic // nothing is left to stop
}

// run returns the exit code.
func run(ctx context.Context, args []string, stderr io.Writer) int {
	options, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, err)
		return 2
	}
	cfg, err := options.config()
	if err == nil {
		err = controlplane.Run(ctx, cfg)
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}
