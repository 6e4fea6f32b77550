// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Command bench measures the controller kit beside controller-runtime, in the
// same run, on the same embedded API server. Each measurement is a process of
// its own, so that neither pays for what the other left behind. It is a module
// of its own to keep controller-runtime out of Weir's.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"weir.dev/test/harness"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// options are those of the command line.
type options struct {
	weir    string
	objects int
	secrets int
	rounds  int
	only    string
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) > 0 && args[0] == childCommand {
		return measure(ctx, args[1:], stdout)
	}
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.weir, "weir", "", "the weir binary, which has the API server")
	flags.IntVar(&o.objects, "objects", 10000, "how many objects are reconciled")
	flags.IntVar(&o.secrets, "secrets", 1000, "how many Secrets of 0.2 MB are nobody's business")
	flags.IntVar(&o.rounds, "rounds", 5, "how often each is measured; the medians are printed")
	flags.StringVar(&o.only, "run", "", "measure only what matches this expression")
	if err := flags.Parse(args); err != nil {
		return err
	}
	only, err := regexp.Compile(o.only)
	if err != nil {
		return err
	}
	return withServer(ctx, o.weir, stderr, func(kubeconfig string) error {
		b := bench{ctx: ctx, options: o, only: only, kubeconfig: kubeconfig, stdout: stdout, stderr: stderr}
		return b.all()
	})
}

// withServer runs f while there is an API server.
func withServer(ctx context.Context, binary string, stderr io.Writer, f func(kubeconfig string) error) (err error) {
	dir, err := os.MkdirTemp("", "weir-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	out, err := os.Create(filepath.Join(dir, "output"))
	if err != nil {
		return err
	}
	defer out.Close()
	weir, err := harness.Start(binary, filepath.Join(dir, "data"), out, "--parts", "network,cluster", "--listen", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer func() {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		err = errors.Join(err, weir.Stop(stopping))
	}()
	fmt.Fprintln(stderr, "starting the API server")
	if err := weir.WaitReady(ctx); err != nil {
		return err
	}
	return f(weir.Kubeconfig())
}
