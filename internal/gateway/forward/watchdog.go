// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"sync"
	"time"
)

// limits on the time of a request; 0 is none. total and start count from arrival, so that waiting for an instance is part of
// it; idle counts from the moment the request was handed to an instance, and again from each part of the response.
type limits struct{ total, start, idle time.Duration }

// timeoutError says which limit a request reached.
type timeoutError struct{ reason string }

// Error returns the reason.
func (e *timeoutError) Error() string { return e.reason }

var (
	errTotal = &timeoutError{"RequestTimeout"}
	errStart = &timeoutError{"ResponseStartTimeout"}
	errIdle  = &timeoutError{"IdleTimeout"}
)

// timeoutText is the body of the answer (facts 6.3).
const timeoutText = "request timeout"

// phase is how far a request is.
type phase int

const (
	waiting   phase = iota
	sent            // handed to an instance
	streaming       // the response began
	upgraded        // after 101: only the idle limit is left
)

// next returns the time of the first limit that will be reached if nothing happens, and which; times count from arrival,
// touched is when the request was handed over or last moved. nil means that no limit applies.
func (l limits) next(p phase, touched time.Duration) (time.Duration, *timeoutError) {
	var first time.Duration
	var cause *timeoutError
	consider := func(applies bool, limit, from time.Duration, err *timeoutError) {
		if applies && limit > 0 && (cause == nil || from+limit < first) {
			first, cause = from+limit, err
		}
	}
	consider(p != upgraded, l.total, 0, errTotal)
	consider(p < streaming, l.start, 0, errStart)
	consider(p != waiting, l.idle, touched, errIdle)
	return first, cause
}

// watchdog calls expire once when a limit is reached. The zero value watches nothing.
type watchdog struct {
	limits limits
	expire func(*timeoutError)
	began  time.Time

	mu      sync.Mutex
	timer   *time.Timer // nil if there is no limit
	phase   phase
	touched time.Duration
	stopped bool
}

// start begins to watch, counting from now. Only the first call counts.
func (d *watchdog) start(l limits, expire func(*timeoutError)) {
	if l == (limits{}) || d.timer != nil {
		return
	}
	d.limits, d.expire, d.began = l, expire, time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	if at, cause := l.next(waiting, 0); cause != nil {
		d.timer = time.AfterFunc(at, d.look)
	} else { // an idle limit only
		d.timer = time.AfterFunc(l.idle, d.look)
	}
}

// look finds out whether a limit was reached, or is due later because something happened since the timer was set.
func (d *watchdog) look() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return
	}
	now := time.Since(d.began)
	at, cause := d.limits.next(d.phase, d.touched)
	switch {
	case cause == nil:
		if d.limits.idle > 0 {
			d.timer.Reset(d.limits.idle)
		}
	case now < at:
		d.timer.Reset(at - now)
	default:
		d.stopped = true
		d.expire(cause)
	}
}

func (d *watchdog) handOver() { d.enter(sent) }

// respond says that the head of the response is here.
func (d *watchdog) respond() { d.enter(streaming) }

// upgrade says that the protocol was changed.
func (d *watchdog) upgrade() { d.enter(upgraded) }

// enter leaves the timer as it is unless the limit on idleness ends earlier than it.
func (d *watchdog) enter(p phase) {
	if d.timer == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.phase, d.touched = p, time.Since(d.began)
	if d.limits.idle > 0 && !d.stopped && p != waiting {
		d.timer.Reset(d.due())
	}
}

func (d *watchdog) due() time.Duration {
	at, _ := d.limits.next(d.phase, d.touched)
	return max(0, at-time.Since(d.began))
}

// touch says that a part of the response went out.
func (d *watchdog) touch() {
	if d.limits.idle == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.touched = time.Since(d.began)
}

// stop returns when expire is not running and will not be called any more.
func (d *watchdog) stop() {
	if d.timer == nil {
		return
	}
	d.timer.Stop()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
}
