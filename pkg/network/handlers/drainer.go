// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package handlers holds the HTTP handlers that servers of a cluster put in
// front of their own.
package handlers

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"weir.dev/pkg/network"
)

// Drainer lets a server leave without losing a request: health checks fail
// first, so that load balancers send no more, and requests are still answered
// until none comes any more. Set its fields before the first request.
type Drainer struct {
	// Inner serves everything but health checks.
	Inner http.Handler
	// HealthCheck answers health checks while the server does not drain; nil
	// answers 200.
	HealthCheck http.HandlerFunc
	// QuietPeriod is how long no request must come for the drain to end; 0
	// means network.DefaultDrainTimeout.
	QuietPeriod time.Duration
	// HealthCheckUAPrefixes are the beginnings of user agents whose requests
	// are health checks, besides the kubelet's.
	HealthCheckUAPrefixes []string

	mu    sync.RWMutex
	drain *drain // nil unless the server drains
}

var _ http.Handler = (*Drainer)(nil)

// drain is one wait for quiet. Its timer starts again at each request; once
// done is closed, requests matter no more.
type drain struct {
	period time.Duration
	timer  *time.Timer
	done   chan struct{}
	finish func()
}

func newDrain(period time.Duration) *drain {
	d := &drain{period: period, done: make(chan struct{})}
	d.finish = sync.OnceFunc(func() { close(d.done) })
	d.timer = time.AfterFunc(period, d.finish)
	return d
}

// ServeHTTP implements http.Handler.
func (d *Drainer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	healthCheck := d.isHealthCheck(r)
	draining := d.note(healthCheck || isProbe(r))
	switch {
	case draining:
		http.Error(w, "shutting down", http.StatusServiceUnavailable)
	case !healthCheck:
		d.Inner.ServeHTTP(w, r)
	case d.HealthCheck != nil:
		d.HealthCheck(w, r)
	default:
		w.WriteHeader(http.StatusOK)
	}
}

// note tells whether a probe meets a server that drains; any other request
// makes the drain last longer.
func (d *Drainer) note(probe bool) bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.drain != nil && !probe {
		d.drain.timer.Reset(d.drain.period)
	}
	return d.drain != nil && probe
}

func (d *Drainer) isHealthCheck(r *http.Request) bool {
	return network.IsKubeletProbe(r) || slices.ContainsFunc(d.HealthCheckUAPrefixes, func(prefix string) bool {
		return strings.HasPrefix(r.UserAgent(), prefix)
	})
}

// isProbe tells the probes of an ingress, which Inner answers.
func isProbe(r *http.Request) bool {
	return r.Header.Get(network.ProbeHeaderName) == network.ProbeHeaderValue
}

// Drain makes health checks fail and returns once no other request has come
// for the quiet period, or Reset was called. Who calls it meanwhile waits for
// the same moment; after it, Drain returns at once.
func (d *Drainer) Drain() { <-d.begin().done }

func (d *Drainer) begin() *drain {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.drain == nil {
		d.drain = newDrain(d.quietPeriod())
	}
	return d.drain
}

func (d *Drainer) quietPeriod() time.Duration {
	if d.QuietPeriod > 0 {
		return d.QuietPeriod
	}
	return network.DefaultDrainTimeout
}

// Reset takes a drain back: health checks pass again, and Drain returns.
func (d *Drainer) Reset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.drain == nil {
		return
	}
	d.drain.timer.Stop()
	d.drain.finish()
	d.drain = nil
}
