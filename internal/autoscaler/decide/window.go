// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package decide

import (
	"math"
	"time"
)

// Algorithm names how a window turns its buckets into one average.
type Algorithm int

const (
	// Linear is the plain mean of the buckets.
	Linear Algorithm = iota
	// WeightedExponential gives younger buckets more weight.
	WeightedExponential
)

// slack is how many seconds a window remembers beyond its length, since reports end a little before they are used.
const slack = 10

// Window holds what was measured in buckets of one second. A bucket's value is the time integral of the metric over
// that second: request-seconds for concurrency, requests for a rate.
type Window struct {
	buckets []float64
	newest  int64 // Unix second of the newest bucket that holds data; older ones are valid up to len(buckets)
}

// NewWindow returns an empty window that can answer for averages over up to length.
func NewWindow(length time.Duration) *Window {
	return &Window{buckets: make([]float64, seconds(length)+slack), newest: math.MinInt64}
}

// Add spreads amount evenly over the period that ended at end. Reports of several gateways add up. What is older than
// the window is dropped.
func (w *Window) Add(end time.Time, period time.Duration, amount float64) {
	if amount == 0 || period <= 0 {
		return
	}
	start := end.Add(-period)
	w.advance(end.Add(-1).Unix())
	oldest := w.newest - int64(len(w.buckets)) + 1
	for second := max(start.Unix(), oldest); second <= end.Add(-1).Unix(); second++ {
		from := later(start, time.Unix(second, 0))
		to := earlier(end, time.Unix(second+1, 0))
		w.buckets[w.slot(second)] += amount * float64(to.Sub(from)) / float64(period)
	}
}

// Average is the mean over the length of time that ended with the last full second before until, or over what there
// is of it after since. It is false when that is nothing: unknown is not zero.
func (w *Window) Average(since, until time.Time, length time.Duration, how Algorithm) (float64, bool) {
	end := until.Unix()
	n := seconds(length)
	start := max(end-n, since.Unix())
	if start >= end {
		return 0, false
	}
	if how == WeightedExponential {
		return w.weighted(start, end, n), true
	}
	sum := 0.0
	for second := start; second < end; second++ {
		sum += w.at(second)
	}
	return sum / float64(end-start), true
}

// weighted averages [start, end) with weights m, m(1-m), m(1-m)², … from the newest bucket on, m chosen so that a
// window of n buckets carries 99.99 % of the weight, but at least 0.2. Weights of absent buckets are left out.
func (w *Window) weighted(start, end, n int64) float64 {
	m := max(1-math.Pow(1-0.9999, 1/float64(n)), 0.2)
	sum, total, weight := 0.0, 0.0, m
	for second := end - 1; second >= start; second-- {
		sum += weight * w.at(second)
		total += weight
		weight *= 1 - m
	}
	return sum / total
}

// advance makes second the newest bucket, if it is newer, and clears those skipped.
func (w *Window) advance(second int64) {
	if second <= w.newest {
		return
	}
	if second-w.newest >= int64(len(w.buckets)) || w.newest == math.MinInt64 {
		clear(w.buckets)
	} else {
		for s := w.newest + 1; s <= second; s++ {
			w.buckets[w.slot(s)] = 0
		}
	}
	w.newest = second
}

// at is the bucket's value, 0 outside of what is held.
func (w *Window) at(second int64) float64 {
	if second > w.newest || second <= w.newest-int64(len(w.buckets)) {
		return 0
	}
	return w.buckets[w.slot(second)]
}

func (w *Window) slot(second int64) int64 {
	n := int64(len(w.buckets))
	return ((second % n) + n) % n
}

// seconds rounds d up to whole seconds, at least one.
func seconds(d time.Duration) int64 {
	return max(1, int64((d+time.Second-1)/time.Second))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// resized is a window of another length with the same content as far as it fits.
func (w *Window) resized(length time.Duration) *Window {
	out := NewWindow(length)
	if w.newest == math.MinInt64 {
		return out
	}
	out.advance(w.newest)
	for i := range int64(min(len(w.buckets), len(out.buckets))) {
		out.buckets[out.slot(w.newest-i)] = w.at(w.newest - i)
	}
	return out
}
