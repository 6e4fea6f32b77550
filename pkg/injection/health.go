// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// HealthCheckDefaultPort is where health probes are served by default.
const HealthCheckDefaultPort = 8080

type (
	readinessKey struct{}
	livenessKey  struct{}
	startedKey   struct{}
)

// WithStart returns a context whose health probes answer /readiness by failures
// until Started is called with it, or with one made of it.
func WithStart(ctx context.Context) context.Context {
	return context.WithValue(ctx, startedKey{}, new(atomic.Bool))
}

// Started says that the process does what it is for.
func Started(ctx context.Context) {
	if started, ok := ctx.Value(startedKey{}).(*atomic.Bool); ok {
		started.Store(true)
	}
}

func starting(ctx context.Context) bool {
	started, ok := ctx.Value(startedKey{}).(*atomic.Bool)
	return ok && !started.Load()
}

// AddReadiness returns a context whose health probes answer /readiness by h.
func AddReadiness(ctx context.Context, h http.HandlerFunc) context.Context {
	return context.WithValue(ctx, readinessKey{}, h)
}

// AddLiveness returns a context whose health probes answer /health by h.
func AddLiveness(ctx context.Context, h http.HandlerFunc) context.Context {
	return context.WithValue(ctx, livenessKey{}, h)
}

// ServeHealthProbes serves /health and /readiness until ctx ends. Once it has,
// the answers that are still given are failures.
func ServeHealthProbes(ctx context.Context, port int) error {
	l, err := net.Listen("tcp", ":"+strconv.Itoa(port))
	if err != nil {
		return fmt.Errorf("listening for health probes: %w", err)
	}
	return serveProbes(ctx, l)
}

func serveProbes(ctx context.Context, l net.Listener) error {
	server := &http.Server{Handler: newProbeHandler(ctx), ReadHeaderTimeout: 10 * time.Second}
	stopped := context.AfterFunc(ctx, func() {
		shutdown, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = server.Shutdown(shutdown)
	})
	defer stopped()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving health probes: %w", err)
	}
	return nil
}

func newProbeHandler(ctx context.Context) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/health", probe(ctx, livenessKey{}))
	mux.HandleFunc("/readiness", probe(ctx, readinessKey{}))
	return mux
}

func probe(ctx context.Context, key any) http.HandlerFunc {
	handler, ok := ctx.Value(key).(http.HandlerFunc)
	return func(w http.ResponseWriter, r *http.Request) {
		switch {
		case ctx.Err() != nil:
			http.Error(w, "shutting down", http.StatusInternalServerError)
		case key == readinessKey{} && starting(ctx):
			http.Error(w, "starting", http.StatusInternalServerError)
		case ok:
			handler(w, r)
		}
	}
}
