// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package signals turns SIGINT and SIGTERM into the end of a context. Only
// main functions import it.
package signals

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// installed guards SetupSignalHandler: signals belong to the process, so this
// is the one place where state of the package is the truth.
var installed atomic.Bool

// NewContext returns a context that ends with the first SIGINT or SIGTERM.
func NewContext() context.Context {
	stop := SetupSignalHandler()
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-stop
		cancel()
	}()
	return ctx
}

// SetupSignalHandler returns a channel that is closed on the first SIGINT or
// SIGTERM; the second ends the process with status 1. It panics when called twice.
func SetupSignalHandler() <-chan struct{} {
	if installed.Swap(true) {
		panic("signals: the handler is already set up")
	}
	stop := make(chan struct{})
	c := make(chan os.Signal, 2)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-c
		close(stop)
		<-c
		os.Exit(1)
	}()
	return stop
}
