// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"time"
)

const (
	childCommand = "measure"
	childTimeout = 5 * time.Minute // detects a hang
)

// The sides that are compared.
const (
	ours    = "kit"
	control = "controller-runtime"
)

// result is what one process measured, by name.
type result map[string]float64

// bench measures one thing after the other.
type bench struct {
	ctx            context.Context
	options        options
	only           *regexp.Regexp
	kubeconfig     string
	stdout, stderr io.Writer
}

func (b bench) all() error {
	fmt.Fprintln(b.stdout, "| what | better | kit | control | ratio |\n|---|---|---|---|---|")
	steps := []struct {
		name string
		do   func() error
	}{
		{"startup", b.startup},
		{"objects", func() error { return createObjects(b.ctx, b.kubeconfig, b.options.objects, b.stderr) }},
		{"status", b.status},
		{"resync", b.resync},
		{"memory", b.memory},
	}
	for _, s := range steps {
		if !b.only.MatchString(s.name) && !b.needs(s.name) {
			continue
		}
		fmt.Fprintln(b.stderr, "===", s.name)
		if err := s.do(); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// needs tells whether what is measured needs a step that measures nothing.
func (b bench) needs(step string) bool {
	return step == "objects" && (b.only.MatchString("status") || b.only.MatchString("resync"))
}

// startup is the time from the start of a main to its caches' being full.
func (b bench) startup() error {
	return b.compare([]string{ours, control}, "startup", func(int) []string { return nil },
		row{"start-up with 20 informers, ms", "ms", lower})
}

// status settles the objects besides, for resync.
func (b bench) status() error {
	return b.compare([]string{ours, control}, "status", func(i int) []string {
		return []string{strconv.Itoa(b.options.objects), fmt.Sprintf("%d-%d", time.Now().Unix(), i)}
	}, row{"one status update each, objects/s", "rate", higher},
		row{"… allocations an object", "allocs", lower})
}

func (b bench) resync() error {
	return b.compare([]string{ours, control}, "resync", func(int) []string { return []string{strconv.Itoa(b.options.objects)} },
		row{"no-op resync, objects/s", "rate", higher},
		row{"… allocations an object", "allocs", lower},
		row{"… bytes allocated an object", "bytes", lower})
}

// memory compares a filtered with an unfiltered informer, both of the kit.
func (b bench) memory() error {
	if err := createSecrets(b.ctx, b.kubeconfig, b.options.secrets, b.stderr); err != nil {
		return err
	}
	return b.compare([]string{filteredSide, unfilteredSide}, "memory", func(int) []string { return nil },
		row{"Secrets informer, filtered and not: heap in use, MiB", "heap", lower},
		row{"… resident, MiB", "rss", lower},
		row{"… of that data, not the program itself, MiB", "data", lower})
}

// better tells which of two figures is.
type better string

const (
	higher better = "higher"
	lower  better = "lower"
)

// row is a line of the table.
type row struct {
	title, figure string
	better        better
}

// compare measures two sides in turns and prints the medians and their ratio.
func (b bench) compare(sides []string, what string, args func(round int) []string, rows ...row) error {
	all := map[string][]result{}
	for round := range b.options.rounds {
		for i := range sides {
			side := sides[(i+round)%2] // neither always has the other's wake
			r, err := b.child(append([]string{what, side, b.kubeconfig}, args(2*round+i)...))
			if err != nil {
				return fmt.Errorf("%s: %w", side, err)
			}
			fmt.Fprintln(b.stderr, what, side, r)
			all[side] = append(all[side], r)
		}
	}
	for _, r := range rows {
		a, z := median(all[sides[0]], r.figure), median(all[sides[1]], r.figure)
		fmt.Fprintf(b.stdout, "| %s | %s | %.4g | %.4g | %.2f |\n", r.title, r.better, a, z, a/z)
	}
	return nil
}

func median(results []result, figure string) float64 {
	values := make([]float64, len(results))
	for i, r := range results {
		values[i] = r[figure]
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// child measures in a process of its own.
func (b bench) child(args []string) (result, error) {
	ctx, cancel := context.WithTimeout(b.ctx, childTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], append([]string{childCommand}, args...)...)
	cmd.Stderr = b.stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var r result
	return r, json.Unmarshal(out, &r)
}
