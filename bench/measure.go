// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// threads is how many keys either side works on at once.
const threads = 2

// resyncs are how many are measured in one process, after one that warms it up.
const resyncs = 10

// subject is a side's controller of things.
type subject interface {
	// start runs it; synced is closed once its cache is full.
	start(ctx context.Context, cfg *rest.Config, work *work) (synced <-chan struct{}, ended <-chan error)
	// resync enqueues every object.
	resync()
}

// work is what both sides' reconcilers do, and how far they are.
type work struct {
	mark   atomic.Pointer[string] // what to write to statuses; nil means nothing
	runs   progress
	writes progress // of statuses that came back through the watch
}

// progress counts up to a goal.
type progress struct {
	goal, count atomic.Int64
	reached     chan struct{}
}

func (p *progress) expect(n int) <-chan struct{} {
	p.reached = make(chan struct{})
	p.count.Store(0)
	p.goal.Store(int64(n))
	return p.reached
}

func (p *progress) add() {
	if p.count.Add(1) == p.goal.Load() {
		close(p.reached)
	}
}

// observe counts the objects whose mark is written.
func (w *work) observe(was, is any) {
	mark := w.mark.Load()
	if mark == nil {
		return
	}
	before, after := was.(*thing), is.(*thing)
	if before.Status.Annotations["mark"] != *mark && after.Status.Annotations["mark"] == *mark {
		w.writes.add()
	}
}

// measure is the main function of a measuring process.
func measure(ctx context.Context, args []string, stdout io.Writer) error {
	what, side, kubeconfig := args[0], args[1], args[2]
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	cfg.QPS = -1
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var r result
	switch what {
	case "startup":
		r, err = measureStartup(ctx, side, cfg)
	case "memory":
		r, err = measureMemory(ctx, side, cfg)
	default:
		r, err = measureWork(ctx, what, side, cfg, args[3:])
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(r)
}

func measureWork(ctx context.Context, what, side string, cfg *rest.Config, args []string) (result, error) {
	objects, err := strconv.Atoi(args[0])
	if err != nil {
		return nil, err
	}
	var s subject = &kit{}
	if side == control {
		s = &managed{}
	}
	w := &work{}
	first := w.runs.expect(objects)
	synced, ended := s.start(ctx, cfg, w)
	for _, reached := range []<-chan struct{}{synced, first} {
		if err := wait(ctx, reached, ended); err != nil {
			return nil, err
		}
	}
	if what == "status" {
		return sample(objects, func() error {
			done := w.writes.expect(objects)
			w.mark.Store(&args[1])
			s.resync()
			return wait(ctx, done, ended)
		})
	}
	return bestOf(func() (result, error) {
		return sample(objects, func() error {
			done := w.runs.expect(objects)
			s.resync()
			return wait(ctx, done, ended)
		})
	})
}

// bestOf warms up and returns the medians of the rest.
func bestOf(f func() (result, error)) (result, error) {
	var all []result
	for i := range resyncs + 1 {
		r, err := f()
		if err != nil {
			return nil, err
		}
		if i > 0 {
			all = append(all, r)
		}
	}
	out := result{}
	for figure := range all[0] {
		out[figure] = median(all, figure)
	}
	return out, nil
}

// sample measures f, which does something with each of so many objects.
func sample(objects int, f func() error) (result, error) {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	if err := f(); err != nil {
		return nil, err
	}
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	n := float64(objects)
	return result{
		"rate":   n / took.Seconds(),
		"allocs": float64(after.Mallocs-before.Mallocs) / n,
		"bytes":  float64(after.TotalAlloc-before.TotalAlloc) / n,
	}, nil
}

func wait(ctx context.Context, reached <-chan struct{}, ended <-chan error) error {
	select {
	case <-reached:
		return nil
	case err := <-ended:
		return fmt.Errorf("the controller ended: %w", err)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// newLogger is a production logger whose output goes nowhere.
func newLogger() *zap.Logger {
	return zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.AddSync(io.Discard), zap.InfoLevel))
}
