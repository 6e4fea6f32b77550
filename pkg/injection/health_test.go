// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestProbes(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ctx = AddReadiness(ctx, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	handler := newProbeHandler(ctx)
	status := func(path string) int {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w.Code
	}
	if got := status("/health"); got != http.StatusOK {
		t.Errorf("/health: %d", got)
	}
	if got := status("/readiness"); got != http.StatusTeapot {
		t.Errorf("/readiness: %d, want the answer of the handler that was added", got)
	}
	cancel()
	for _, path := range []string{"/health", "/readiness"} {
		if got := status(path); got != http.StatusInternalServerError {
			t.Errorf("%s after the end: %d", path, got)
		}
	}
}

// TestReadyOnceStarted: who has announced a start is not ready before it, but alive.
func TestReadyOnceStarted(t *testing.T) {
	ctx := WithStart(t.Context())
	handler := newProbeHandler(ctx)
	status := func(path string) int {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w.Code
	}
	if ready, alive := status("/readiness"), status("/health"); ready != http.StatusInternalServerError || alive != http.StatusOK {
		t.Errorf("before the start: ready %d, alive %d", ready, alive)
	}
	Started(ctx)
	if ready := status("/readiness"); ready != http.StatusOK {
		t.Errorf("after the start: ready %d", ready)
	}
	Started(t.Context()) // nobody asks: nothing happens
}

func TestServeProbesEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- serveProbes(ctx, l) }()
	resp, err := http.Get("http://" + l.Addr().String() + "/health")
	if err != nil {
		t.Fatalf("GET /health: %v", err)
	}
	resp.Body.Close()
	cancel()
	if err := <-done; err != nil {
		t.Errorf("serveProbes: %v", err)
	}
}
