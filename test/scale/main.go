// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Command scale creates many Services with initial scale 0 as fast as the machine takes them and prints what each costs: CPU
// time, objects, writes to the API, and whether the last ones take longer than the first. Then it starts everything again and
// prints what was written although nothing had changed. It fails only if a Service does not become Ready.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"weir.dev/test/harness"
)

// limit is a hang detector for the whole run.
const limit = 30 * time.Minute

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("scale", flag.ContinueOnError)
	flags.SetOutput(stderr)
	b := &bench{out: stdout}
	flags.StringVar(&b.binary, "weir", ".bin/weir", "the weir binary")
	flags.IntVar(&b.services, "services", 1000, "how many Services are created")
	flags.IntVar(&b.workers, "workers", 4, "how many are waited for at a time")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := b.run(ctx); err != nil {
		fmt.Fprintln(stderr, "scale:", err)
		return 1
	}
	return 0
}

// bench holds what the steps share.
type bench struct {
	out      io.Writer
	binary   string
	services int
	workers  int

	dir    string
	listen string
	log    *os.File
	weir   *harness.Weir
	system *harness.System
}

// run is the list of steps. Whatever happens, what they made is removed.
func (b *bench) run(ctx context.Context) (err error) {
	if b.binary, err = filepath.Abs(b.binary); err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp("", "weir-scale-"); err != nil {
		return err
	}
	if b.log, err = os.Create(filepath.Join(b.dir, "output")); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			harness.Dump(b.log.Name())
		}
		err = errors.Join(err, b.stop(), harness.Purge(context.Background(), b.binary, b.dataDir(), io.Discard),
			b.log.Close(), os.RemoveAll(b.dir))
	}()
	for _, step := range []func(context.Context) error{b.start, b.create, b.restart} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) dataDir() string { return filepath.Join(b.dir, "data") }

func (b *bench) start(ctx context.Context) error {
	if b.listen == "" {
		// The same port after a restart, or all URLs change.
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		b.listen = l.Addr().String()
		l.Close()
	}
	w, err := harness.Start(b.binary, b.dataDir(), b.log, "--listen", b.listen)
	if err != nil {
		return err
	}
	b.weir = w
	if err := w.WaitReady(ctx); err != nil {
		return err
	}
	b.system, err = harness.Connect(w.Kubeconfig(), "")
	if err != nil {
		return err
	}
	return b.system.SetConfig(ctx, "config-autoscaler", map[string]string{"allow-zero-initial-scale": "true"})
}

func (b *bench) stop() error {
	if b.weir == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	w := b.weir
	b.weir = nil
	return w.Stop(ctx)
}
