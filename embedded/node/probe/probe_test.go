// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

type change struct {
	At      time.Duration
	Healthy bool
}

func TestRun(t *testing.T) {
	const second = time.Second
	between := func(from, to time.Duration) func(time.Duration) bool {
		return func(at time.Duration) bool { return at >= from && at < to }
	}
	cases := map[string]struct {
		reason  string
		kind    Kind
		probe   corev1.Probe
		healthy func(at time.Duration) bool
		want    []change
		strikes int
	}{
		"ready at once": {
			reason: "the first attempt comes with the start", kind: Readiness, probe: corev1.Probe{PeriodSeconds: 10},
			healthy: between(0, time.Hour), want: []change{{0, true}},
		},
		"ready between ticks": {
			reason: "a success need not wait for the period", kind: Readiness, probe: corev1.Probe{PeriodSeconds: 10},
			healthy: between(100*time.Millisecond, time.Hour), want: []change{{127 * time.Millisecond, true}},
		},
		"failures count by the period": {
			reason: "25 s without success are 2 ticks of 10 s, and harmless before the first success",
			kind:   Readiness, probe: corev1.Probe{PeriodSeconds: 10, FailureThreshold: 1},
			healthy: between(25*second, time.Hour), want: []change{{25 * second, true}}, strikes: 2,
		},
		"initial delay": {
			reason: "nothing is tried before", kind: Readiness, probe: corev1.Probe{PeriodSeconds: 10, InitialDelaySeconds: 5},
			healthy: between(0, time.Hour), want: []change{{5 * second, true}},
		},
		"success threshold": {
			reason: "after the first success the period holds", kind: Readiness,
			probe:   corev1.Probe{PeriodSeconds: 10, SuccessThreshold: 3},
			healthy: between(0, time.Hour), want: []change{{20 * second, true}},
		},
		"unready and back": {
			reason: "thresholds hold after the first success", kind: Readiness,
			probe:   corev1.Probe{PeriodSeconds: 1, FailureThreshold: 3},
			healthy: func(at time.Duration) bool { return at < 5*second || at > 20*second },
			want:    []change{{0, true}, {7 * second, false}, {21 * second, true}}, strikes: 16,
		},
		"default period of readiness": {
			reason: "0 means one second", kind: Readiness, probe: corev1.Probe{FailureThreshold: 1},
			healthy: func(at time.Duration) bool { return at != 3*second }, want: []change{{0, true}, {3 * second, false}, {4 * second, true}}, strikes: 1,
		},
		"alive": {
			reason: "liveness begins healthy, so success is no change", kind: Liveness, probe: corev1.Probe{PeriodSeconds: 10},
			healthy: between(0, time.Hour),
		},
		"dead": {
			reason: "three failures in a row end the container, and the probe", kind: Liveness, probe: corev1.Probe{PeriodSeconds: 10},
			healthy: between(0, 15*second), want: []change{{40 * second, false}}, strikes: 3,
		},
		"started": {
			reason: "a startup probe ends with its success", kind: Startup, probe: corev1.Probe{PeriodSeconds: 5},
			healthy: between(0, second/2), want: []change{{0, true}},
		},
		"never started": {
			reason: "its budget is period times threshold", kind: Startup, probe: corev1.Probe{PeriodSeconds: 5, FailureThreshold: 3},
			healthy: between(0, 0), want: []change{{15 * second, false}}, strikes: 3,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				begin := time.Now()
				var got []change
				strikes := 0
				Run(ctx, Config{
					Kind: c.kind, Probe: &c.probe,
					Attempt: func(context.Context) error {
						if c.healthy(time.Since(begin)) {
							return nil
						}
						return errors.New("not well")
					},
					Changed: func(healthy bool) { got = append(got, change{time.Since(begin), healthy}) },
					Failed:  func(error) { strikes++ },
				})
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", c.reason, diff)
				}
				if strikes != c.strikes {
					t.Errorf("%s: %d failures counted, want %d", c.reason, strikes, c.strikes)
				}
			})
		})
	}
}

func TestAttemptIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		begin := time.Now()
		var took time.Duration
		Run(ctx, Config{
			Kind: Startup, Probe: &corev1.Probe{TimeoutSeconds: 2, PeriodSeconds: 1, FailureThreshold: 1},
			Attempt: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
			Changed: func(bool) { took = time.Since(begin) },
			Failed:  func(error) {},
		})
		if took != 2*time.Second {
			t.Errorf("failed after %v, want the timeout of 2s", took)
		}
	})
}
