// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net/http"
	"os"
	"sync"
	"time"

	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// health is what probes are told, by a name of the caller's; well unless it is told otherwise.
type health struct {
	start time.Time

	mu   sync.Mutex
	sick map[string]time.Time // until when
}

// well is false for READY_AFTER since the start, and while the name is sick.
func (h *health) well(name string) bool {
	after, _ := time.ParseDuration(os.Getenv("READY_AFTER"))
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Since(h.start) >= after && time.Now().After(h.sick[name])
}

// ask answers 200 or 503.
func (h *health) ask(w http.ResponseWriter, r *http.Request) {
	if !h.well(r.PathValue("name")) {
		http.Error(w, "sick", http.StatusServiceUnavailable)
		return
	}
	_, _ = w.Write([]byte("well\n"))
}

// fall makes it sick for a duration.
func (h *health) fall(w http.ResponseWriter, r *http.Request) {
	d, err := time.ParseDuration(r.FormValue("d"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sick == nil {
		h.sick = map[string]time.Time{}
	}
	h.sick[r.PathValue("name")] = time.Now().Add(d)
}

// grpcHealth is gRPC's health service.
func grpcHealth(h *health) http.HandlerFunc {
	server := grpc.NewServer()
	healthpb.RegisterHealthServer(server, checker{h: h})
	return server.ServeHTTP
}

type checker struct {
	healthpb.UnimplementedHealthServer
	h *health
}

// Check implements gRPC's health service.
func (c checker) Check(context.Context, *healthpb.HealthCheckRequest) (*healthpb.HealthCheckResponse, error) {
	status := healthpb.HealthCheckResponse_NOT_SERVING
	if c.h.well("grpc") {
		status = healthpb.HealthCheckResponse_SERVING
	}
	return &healthpb.HealthCheckResponse{Status: status}, nil
}
