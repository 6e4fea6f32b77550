// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package decide

import (
	"math"
	"testing"
	"time"
)

func TestWindowAverage(t *testing.T) {
	at := func(s float64) time.Time { return origin.Add(time.Duration(s * float64(time.Second))) }
	type add struct{ end, period, amount float64 }
	cases := map[string]struct {
		reason       string
		adds         []add
		since, until float64
		length       time.Duration
		how          Algorithm
		want         float64
		ok           bool
	}{
		"nothing known": {
			reason: "no full second is covered: unknown, not zero",
			since:  10.2, until: 10.9, length: time.Minute,
		},
		"known to be idle": {
			reason: "gateways reported and had nothing",
			since:  0, until: 30, length: time.Minute, ok: true,
		},
		"whole seconds": {
			reason: "the mean over what is there, not over the whole window",
			adds:   []add{{1, 1, 4}, {2, 1, 8}},
			since:  0, until: 2, length: time.Minute, want: 6, ok: true,
		},
		"window full": {
			reason: "older buckets do not count",
			adds:   []add{{1, 1, 100}, {2, 1, 8}, {3, 1, 4}},
			since:  0, until: 3, length: 2 * time.Second, want: 6, ok: true,
		},
		"spread": {
			reason: "a report that lies across two seconds counts in both, by time; the second not over yet is left out",
			adds:   []add{{1.5, 1, 10}},
			since:  0, until: 1.5, length: time.Second, want: 5, ok: true,
		},
		"gateways add up": {
			reason: "each has a part of the load",
			adds:   []add{{1, 1, 3}, {1, 1, 4}},
			since:  0, until: 1, length: time.Second, want: 7, ok: true,
		},
		"late": {
			reason: "a report about the past lands in the past",
			adds:   []add{{5, 1, 3}, {2, 1, 6}},
			since:  0, until: 5, length: 5 * time.Second, want: 9. / 5, ok: true,
		},
		"much later": {
			reason: "buckets are cleared when time has passed them",
			adds:   []add{{1, 1, 1000}, {300, 1, 6}},
			since:  0, until: 300, length: time.Minute, want: 0.1, ok: true,
		},
		"exponential": {
			reason: "weights 0.2, 0.16 (normalised to what is there), youngest first",
			adds:   []add{{1, 1, 0.0001}, {2, 1, 9}},
			since:  0, until: 2, length: time.Minute, how: WeightedExponential, want: 5, ok: true,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := NewWindow(time.Minute)
			for _, a := range c.adds {
				w.Add(at(a.end), time.Duration(a.period*float64(time.Second)), a.amount)
			}
			got, ok := w.Average(at(c.since), at(c.until), c.length, c.how)
			if math.Abs(got-c.want) > 1e-3 || ok != c.ok {
				t.Errorf("%s: got %v, %v; want %v, %v", c.reason, got, ok, c.want, c.ok)
			}
		})
	}
}

func TestWindowResized(t *testing.T) {
	w := NewWindow(6 * time.Second)
	for s := range 6 {
		w.Add(origin.Add(time.Duration(s+1)*time.Second), time.Second, 7)
	}
	for _, length := range []time.Duration{6 * time.Second, time.Hour} {
		got, _ := w.resized(length).Average(origin, origin.Add(6*time.Second), length, Linear)
		if got != 7 {
			t.Errorf("after a change to %v: average %v, want 7: a changed window must not forget", length, got)
		}
	}
	if got := NewWindow(time.Second).resized(time.Minute); got.newest != math.MinInt64 {
		t.Errorf("an empty window became %+v", got)
	}
}

// FuzzWindow holds that no order of reports makes an average negative, lost in rounding or greater than the load.
func FuzzWindow(f *testing.F) {
	f.Add(int64(0), int64(1e9), 1.0, int64(3e9))
	f.Fuzz(func(t *testing.T, end, period int64, amount float64, until int64) {
		if math.IsNaN(amount) || math.IsInf(amount, 0) || amount < 0 || amount > 1e12 {
			t.Skip()
		}
		w := NewWindow(6 * time.Second)
		w.Add(origin.Add(time.Duration(end)), time.Duration(period), amount)
		got, _ := w.Average(origin.Add(-time.Hour), origin.Add(time.Duration(until)), 6*time.Second, Linear)
		if got < 0 || got > amount*(1+1e-9) {
			t.Errorf("average %v of %v", got, amount)
		}
	})
}
