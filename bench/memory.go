// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"k8s.io/client-go/rest"

	"weir.dev/pkg/client/injection/kube/informers/core/v1/secret"
	"weir.dev/pkg/client/injection/kube/informers/core/v1/secret/filtered"
	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection/sharedmain"
)

// The informers of Secrets that are compared.
const (
	filteredSide   = "filtered"
	unfilteredSide = "unfiltered"
)

const mib = 1 << 20

// measureMemory says what a component takes once its cache of Secrets is full.
func measureMemory(ctx context.Context, side string, cfg *rest.Config) (result, error) {
	synced, ended := make(chan struct{}), make(chan error, 1)
	ctor := func(ctx context.Context, _ configmap.Watcher) *controller.Impl {
		if side == filteredSide {
			filtered.Get(ctx, secretLabel+"=true")
		} else {
			secret.Get(ctx)
		}
		return newController(ctx, synced)
	}
	go func() { ended <- sharedmain.Run(kitContext(ctx), "bench", cfg, ctor) }()
	if err := wait(ctx, synced, ended); err != nil {
		return nil, err
	}
	runtime.GC()
	runtime.GC() // the first one frees what waits for finalizers
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return nil, err
	}
	rss, err1 := field(string(status), "VmRSS")
	data, err2 := field(string(status), "RssAnon")
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("/proc/self/status: %w", err)
	}
	return result{"heap": float64(m.HeapInuse) / mib, "rss": rss, "data": data}, nil
}

// field reads a line of /proc/self/status, which is in kB, as MiB.
func field(status, name string) (float64, error) {
	for line := range strings.Lines(status) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			kb, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64)
			return kb / 1024, err
		}
	}
	return 0, fmt.Errorf("there is no %s", name)
}
