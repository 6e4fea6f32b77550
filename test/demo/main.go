// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Command demo is the main job as a newcomer would do it, on real input: it starts Weir, makes images from the examples,
// deploys them, calls them, lets them scale to zero, wakes them, prints what that took and leaves nothing running.
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
	"syscall"
	"time"

	"weir.dev/test/harness"
)

// limit is a hang detector for the whole demo.
const limit = 15 * time.Minute

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.SetOutput(stderr)
	d := &demo{out: stdout}
	flags.StringVar(&d.binary, "weir", ".bin/weir", "the weir binary")
	flags.StringVar(&d.dataDir, "data-dir", "/var/lib/weir-demo", "a data directory for the demo alone")
	flags.StringVar(&d.examples, "examples", "examples", "the examples")
	flags.IntVar(&d.coldStarts, "cold-starts", 20, "how many cold starts to measure")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := d.run(ctx); err != nil {
		fmt.Fprintln(stderr, "demo:", err)
		return 1
	}
	return 0
}

// demo holds what the steps share.
type demo struct {
	out        io.Writer
	binary     string
	dataDir    string
	examples   string
	coldStarts int

	weir    *harness.Weir
	system  *harness.System
	figures figures
	log     *os.File
}

// run is the list of steps. Whatever happens, Weir is stopped and what it made is removed.
func (d *demo) run(ctx context.Context) (err error) {
	if d.binary, err = filepath.Abs(d.binary); err != nil {
		return err
	}
	if err := harness.Purge(ctx, d.binary, d.dataDir, io.Discard); err != nil {
		return fmt.Errorf("clean up after an earlier demo: %w", err)
	}
	before, err := harness.TakeFootprint(d.dataDir)
	if err != nil {
		return err
	}
	if d.log, err = os.CreateTemp("", "weir-demo-*.log"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.leaveNothing(before)) }()
	for _, step := range []func(context.Context) error{
		d.buildImages, d.start, d.deploy, d.call, d.measureIdle, d.scaleToZero, d.wake, d.measureColdStarts,
	} {
		if err := step(ctx); err != nil {
			return fmt.Errorf("%w (what weir printed: %s)", err, d.log.Name())
		}
	}
	d.figures.print(d.out)
	return nil
}

func (d *demo) say(format string, args ...any) {
	fmt.Fprintf(d.out, "\n== "+format+"\n", args...)
}

// leaveNothing stops Weir, removes the data and compares the machine with what it was before.
func (d *demo) leaveNothing(before harness.Footprint) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var errs error
	if d.weir != nil {
		d.say("Stop")
		errs = d.weir.Stop(ctx)
	}
	after, err := harness.TakeFootprint(d.dataDir)
	errs = errors.Join(errs, err)
	for _, left := range after.Beyond(before) {
		errs = errors.Join(errs, fmt.Errorf("left behind: %s", left))
	}
	if errs == nil {
		os.Remove(d.log.Name())
		fmt.Fprintln(d.out, "Nothing is left running: no process, mount, bridge, route or table.")
	}
	return errors.Join(errs, harness.Purge(ctx, d.binary, d.dataDir, io.Discard), d.log.Close())
}
