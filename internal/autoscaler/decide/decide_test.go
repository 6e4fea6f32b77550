// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package decide

import (
	"testing"
	"time"
)

func TestBounds(t *testing.T) {
	cases := map[string]struct {
		reason         string
		bounds         Bounds
		desired        int32
		want, activeAt int32
	}{
		"none":             {"no limits", Bounds{Initialized: true}, 7, 7, 1},
		"unknown":          {"nothing known stays so", Bounds{Min: 3, Initialized: true}, Unknown, Unknown, 3},
		"min":              {"raised", Bounds{Min: 3, Initialized: true}, 0, 3, 3},
		"max":              {"lowered", Bounds{Max: 3, Initialized: true}, 9, 3, 1},
		"unreachable":      {"no route: the minimum is off", Bounds{Min: 3, Initialized: true, Unreachable: true}, 0, 0, 1},
		"initial":          {"the first start needs them all", Bounds{Initial: 4}, 1, 4, 4},
		"initial, max":     {"the maximum wins", Bounds{Initial: 4, Max: 2}, 1, 2, 4},
		"initial 1":        {"a single initial instance is not forced", Bounds{Initial: 1}, 0, 0, 1},
		"initial 0":        {"nothing is needed to be ready", Bounds{Initial: 0}, 0, 0, 0},
		"initial done":     {"later it does not count", Bounds{Initial: 4, Initialized: true}, 1, 1, 1},
		"initial, min":     {"the greater one", Bounds{Initial: 2, Min: 5}, 0, 5, 5},
		"initial, no need": {"unreachable at once", Bounds{Initial: 4, Unreachable: true}, 0, 0, 4},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := c.bounds.Apply(c.desired); got != c.want {
				t.Errorf("%s: Apply(%d) = %d, want %d", c.reason, c.desired, got, c.want)
			}
			if got := c.bounds.ActiveAt(); got != c.activeAt {
				t.Errorf("%s: ActiveAt() = %d, want %d", c.reason, got, c.activeAt)
			}
		})
	}
}

func TestNextActivity(t *testing.T) {
	cases := map[string]struct {
		want, ready, activeAt int32
		was                   Activity
		now                   Activity
		reason                string
	}{
		"a start that was given up":       {0, 0, 1, Activating, Inactive, ReasonTimedOut},
		"no traffic any more":             {0, 1, 1, Active, Inactive, ReasonNoTraffic},
		"still no traffic":                {0, 0, 1, Inactive, Inactive, ReasonNoTraffic},
		"initial scale 0":                 {Unknown, 0, 0, Activating, Inactive, ReasonNoTraffic},
		"woken":                           {1, 0, 1, Inactive, Activating, ReasonQueued},
		"not enough yet":                  {3, 2, 3, Active, Activating, ReasonQueued},
		"enough":                          {3, 1, 1, Activating, Active, ""},
		"nothing known while inactive":    {Unknown, 0, 1, Inactive, Inactive, ReasonNoTraffic},
		"nothing known, inactive, ready":  {Unknown, 1, 1, Inactive, Inactive, ReasonNoTraffic},
		"nothing known, lost an instance": {Unknown, 0, 1, Active, Activating, ReasonQueued},
		"nothing known, first start":      {Unknown, 1, 1, Activating, Active, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			now, reason := NextActivity(c.want, c.ready, c.activeAt, c.was)
			if now != c.now || reason != c.reason {
				t.Errorf("got %v %q, want %v %q", now, reason, c.now, c.reason)
			}
		})
	}
}

func TestToZero(t *testing.T) {
	rules := ZeroRules{
		Enabled: true, Window: time.Minute, Grace: 30 * time.Second, Retention: 10 * time.Second, Activation: 10 * time.Minute,
	}
	disabled, retained := rules, rules
	disabled.Enabled = false
	retained.Retention = time.Hour
	cases := map[string]struct {
		reason string
		rules  ZeroRules
		idle   Idle
		want   Verdict
	}{
		"disabled": {
			"the last instance stays", disabled, Idle{Activity: Inactive, For: time.Hour, Replicas: 1},
			Verdict{Want: 1, Apply: true},
		},
		"busy": {
			"a request in hand holds an instance", rules, Idle{Activity: Inactive, For: time.Hour, Replicas: 1, Busy: true},
			Verdict{Want: 1, Apply: true},
		},
		"busy start": {
			"a waiting request keeps a start going", rules, Idle{For: time.Hour, Replicas: 1, Busy: true},
			Verdict{Want: 1, Apply: true},
		},
		"starting": {
			"a start is not interrupted", rules, Idle{For: time.Minute, Replicas: 1},
			Verdict{Want: Unknown, Recheck: 9 * time.Minute},
		},
		"start failed": {
			"it took too long", rules, Idle{For: 10 * time.Minute, Replicas: 1}, Verdict{Want: 0, Apply: true},
		},
		"just active": {
			"an instance is worth a window of waiting", rules, Idle{Activity: Active, For: 20 * time.Second, Replicas: 3},
			Verdict{Want: 1, Apply: true, Recheck: 40 * time.Second},
		},
		"long active": {
			"marked first, removed later", rules, Idle{Activity: Active, For: time.Minute, Replicas: 1},
			Verdict{Want: 0, Recheck: 30 * time.Second},
		},
		"grace": {
			"the rest of the grace period", rules, Idle{Activity: Inactive, For: 20 * time.Second, Replicas: 1},
			Verdict{Want: 0, Recheck: 10 * time.Second},
		},
		"grace over": {
			"now", rules, Idle{Activity: Inactive, For: 30 * time.Second, Replicas: 1}, Verdict{Want: 0, Apply: true},
		},
		"retention": {
			"the longer of the two", retained, Idle{Activity: Inactive, For: 30 * time.Minute, Replicas: 1},
			Verdict{Want: 0, Recheck: 30 * time.Minute},
		},
		"at zero": {
			"nothing to wait for", rules, Idle{Activity: Inactive, For: time.Second}, Verdict{Want: 0, Apply: true},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := c.rules.ToZero(c.idle); got != c.want {
				t.Errorf("%s: got %+v, want %+v", c.reason, got, c.want)
			}
		})
	}
}

func TestPeaks(t *testing.T) {
	var p peaks
	steps := []struct{ at, count, want int }{{0, 5, 5}, {1, 3, 5}, {2, 4, 5}, {9, 1, 5}, {10, 1, 4}, {12, 1, 1}, {13, 9, 9}}
	for _, s := range steps {
		if got := p.push(origin.Add(time.Duration(s.at)*time.Second), int32(s.count), 10*time.Second); got != int32(s.want) {
			t.Errorf("at %d s: the greatest is %d, want %d", s.at, got, s.want)
		}
	}
}
