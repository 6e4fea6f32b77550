// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package probe decides when a container's probe is tried and what its results
// mean: delays, periods and thresholds with Kubernetes' meaning. What an attempt
// does is a function that it gets.
package probe

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Kind is what a probe is for.
type Kind string

// The kinds of probes, as they are named in events.
const (
	Startup   Kind = "Startup"
	Readiness Kind = "Readiness"
	Liveness  Kind = "Liveness"
)

// Config describes one probe of one container that has just started.
type Config struct {
	Kind  Kind
	Probe *corev1.Probe
	// Healthy says that a readiness probe has succeeded already: the container
	// was started by an earlier process of ours.
	Healthy bool
	// Attempt tries once; an error is a failure.
	Attempt func(ctx context.Context) error
	// Changed is called when a threshold is crossed: with true from "not yet",
	// which is where startup and readiness begin, with false from healthy,
	// which is where liveness begins. For startup, false is "failed for good".
	Changed func(healthy bool)
	// Failed is called for every failure that counts.
	Failed func(err error)
}

// Run probes until ctx ends or, for a startup probe, until it has succeeded or
// failed for good.
//
// Until their first success, startup and readiness probes are also tried
// between their periods, with a back-off from a millisecond on. Such attempts
// can only succeed: failures count once a period, as Kubernetes promises. So a
// container is ready when it is, and not at the next tick.
func Run(ctx context.Context, cfg Config) {
	r := runner{Config: cfg, healthy: cfg.Healthy || cfg.Kind == Liveness, period: seconds(cfg.Probe.PeriodSeconds, 10*time.Second)}
	if cfg.Kind == Readiness && cfg.Probe.PeriodSeconds == 0 {
		r.period = time.Second
	}
	if !wait(ctx, r.firstDelay()) {
		return
	}
	if !r.healthy && !r.eagerly(ctx) {
		return
	}
	for !r.done {
		r.count(ctx, r.attempt(ctx))
		if r.done || !wait(ctx, r.period) {
			return
		}
	}
}

type runner struct {
	Config
	period             time.Duration
	healthy, done      bool
	successes, strikes int32
}

// firstDelay gives a liveness probe without a delay of its own one period: a
// container that is just starting has not failed.
func (r *runner) firstDelay() time.Duration {
	delay := time.Duration(r.Probe.InitialDelaySeconds) * time.Second
	if delay == 0 && r.Kind == Liveness {
		return r.period
	}
	return delay
}

// eagerly tries until the first success; false when ctx or the probe ended.
func (r *runner) eagerly(ctx context.Context) bool {
	const first, firstExec, longest = time.Millisecond, 250 * time.Millisecond, time.Second
	pause := first
	if r.Probe.Exec != nil {
		pause = firstExec
	}
	tick := time.Now().Add(r.period)
	for {
		err := r.attempt(ctx)
		if ctx.Err() != nil {
			return false
		}
		now := time.Now()
		due := !now.Before(tick)
		if err == nil || due {
			r.count(ctx, err)
		}
		if r.done {
			return false
		}
		if err == nil {
			return wait(ctx, r.period)
		}
		if due {
			tick = now.Add(r.period)
		}
		if !wait(ctx, min(pause, tick.Sub(now))) {
			return false
		}
		pause = min(2*pause, longest, r.period)
	}
}

func (r *runner) attempt(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, seconds(r.Probe.TimeoutSeconds, time.Second))
	defer cancel()
	return r.Attempt(ctx)
}

// count adds one result to the probe's history.
func (r *runner) count(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		r.successes = 0
		r.strikes++
		r.Failed(err)
		if r.strikes >= threshold(r.Probe.FailureThreshold, 3) {
			r.set(false)
		}
		return
	}
	r.strikes = 0
	r.successes++
	if r.successes >= threshold(r.Probe.SuccessThreshold, 1) {
		r.set(true)
	}
}

func (r *runner) set(healthy bool) {
	final := r.Kind == Startup || r.Kind == Liveness && !healthy
	if healthy == r.healthy && !final {
		return
	}
	r.healthy = healthy
	r.done = final
	r.Changed(healthy)
}

func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return ctx.Err() == nil
	}
}

func seconds(n int32, otherwise time.Duration) time.Duration {
	if n <= 0 {
		return otherwise
	}
	return time.Duration(n) * time.Second
}

func threshold(n, otherwise int32) int32 {
	if n <= 0 {
		return otherwise
	}
	return n
}
