// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package backend

import "weir.dev/internal/gateway/stats"

// Report is the state of a backend at the end of a period.
type Report struct {
	stats.Period
	Waiting, InFlight int
	// Starved says that requests wait and there is no instance.
	Starved bool
	// Quiet says that there was no request in this period and none in the one before.
	Quiet bool
	// Loads are the requests in hand by the UID of the instance, without idle ones.
	Loads map[string]int
}

// Report ends the period that began with the last call.
func (b *Backend) Report() Report {
	now := b.set.config.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	r := Report{
		Period:   b.meter.Take(now),
		Waiting:  b.queue.len,
		InFlight: b.inFlight,
		Starved:  b.queue.len > 0 && len(b.pool) == 0,
	}
	quiet := r.Requests == 0 && r.Concurrency == 0
	r.Quiet, b.quiet = quiet && b.quiet, quiet
	for uid, i := range b.instances {
		if i.inFlight > 0 {
			if r.Loads == nil {
				r.Loads = make(map[string]int, len(b.instances))
			}
			r.Loads[uid] = i.inFlight
		}
	}
	return r
}

// Waiting is how many requests wait now.
func (b *Backend) Waiting() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.queue.len
}
