// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package stats measures how busy a backend is: exactly, from the requests themselves, not by sampling. It is pure: times
// come in as arguments, and the owner of a [Meter] locks it.
package stats

import "time"

// Meter integrates the number of requests over time. The zero value is ready once [Meter.Take] was called.
type Meter struct {
	count    int
	requests uint64
	last     int64 // when area was brought up to date, monotonic nanoseconds
	area     int64 // request-nanoseconds since the period began
	began    int64
}

// Period is what happened between two calls of [Meter.Take].
type Period struct {
	// Concurrency is the time average of the requests in the gateway.
	Concurrency float64
	// Requests is how many arrived.
	Requests uint64
	Length   time.Duration
}

// Arrive counts a request in, at a monotonic time in nanoseconds.
func (m *Meter) Arrive(now int64) {
	m.advance(now)
	m.count++
	m.requests++
}

// Leave counts a request out.
func (m *Meter) Leave(now int64) {
	m.advance(now)
	m.count--
}

// Count is how many requests are in the gateway now.
func (m *Meter) Count() int { return m.count }

// Take returns the figures of the period that ends now and starts the next one.
func (m *Meter) Take(now int64) Period {
	m.advance(now)
	p := Period{Requests: m.requests, Length: time.Duration(now - m.began)}
	if p.Length > 0 {
		p.Concurrency = float64(m.area) / float64(p.Length)
	}
	m.requests, m.area, m.began = 0, 0, now
	return p
}

// advance adds what passed since the last change. Callers read their clocks before they take the lock, so that a time
// may be a little older than the last one; it then counts as the same.
func (m *Meter) advance(now int64) {
	if now > m.last {
		m.area += int64(m.count) * (now - m.last)
		m.last = now
	}
}
