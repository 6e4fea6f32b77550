// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestNextLimit(t *testing.T) {
	const s = time.Second
	all := limits{total: 10 * s, start: 5 * s, idle: 3 * s}
	tests := map[string]struct {
		reason  string
		limits  limits
		phase   phase
		touched time.Duration
		at      time.Duration
		cause   *timeoutError
	}{
		"WaitingIsNotIdle":    {"a cold start may take longer than the program may pause", all, waiting, 0, 5 * s, errStart},
		"IdleFromHandOver":    {"", all, sent, 1 * s, 4 * s, errIdle},
		"StartBeforeIdle":     {"", all, sent, 4 * s, 5 * s, errStart},
		"StartIsOver":         {"", all, streaming, 4 * s, 7 * s, errIdle},
		"TotalBeforeIdle":     {"", all, streaming, 9 * s, 10 * s, errTotal},
		"UpgradedIdleOnly":    {"a WebSocket is no slow request", all, upgraded, 60 * s, 63 * s, errIdle},
		"UpgradedWithoutIdle": {"", limits{total: s, start: s}, upgraded, 0, 0, nil},
		"None":                {"", limits{}, sent, 0, 0, nil},
		"TotalOnly":           {"", limits{total: s}, streaming, 0, s, errTotal},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if at, cause := test.limits.next(test.phase, test.touched); at != test.at || cause != test.cause {
				t.Errorf("%v %v, want %v %v: %s", at, cause, test.at, test.cause, test.reason)
			}
		})
	}
}

func TestWatchdogFollowsTheRequest(t *testing.T) {
	const s = time.Second
	tests := map[string]struct {
		limits limits
		run    func(d *watchdog)
		at     time.Duration // 0 is never
		cause  *timeoutError
	}{
		"Total":        {limits{total: 10 * s}, func(*watchdog) {}, 10 * s, errTotal},
		"IdleAtFirst":  {limits{idle: 3 * s}, func(*watchdog) { time.Sleep(60 * s) }, 0, nil},
		"IdleAfter":    {limits{idle: 3 * s}, func(d *watchdog) { time.Sleep(60 * s); d.handOver() }, 63 * s, errIdle},
		"IdleOfStream": {limits{idle: 3 * s}, func(d *watchdog) { d.handOver(); d.respond(); tick(d, 20) }, 23 * s, errIdle},
		"StartMet":     {limits{start: 5 * s, total: 30 * s}, func(d *watchdog) { d.handOver(); time.Sleep(4 * s); d.respond() }, 30 * s, errTotal},
		"Upgraded":     {limits{start: 5 * s, total: 30 * s}, func(d *watchdog) { d.handOver(); d.upgrade(); time.Sleep(600 * s) }, 0, nil},
		"UpgradedIdle": {limits{idle: 5 * s, total: 30 * s}, func(d *watchdog) { d.handOver(); d.upgrade(); tick(d, 100) }, 105 * s, errIdle},
		"Stopped":      {limits{total: 10 * s}, func(d *watchdog) { d.stop() }, 0, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				var at time.Duration
				var cause *timeoutError
				var d watchdog
				d.start(test.limits, func(e *timeoutError) { at, cause = time.Since(began), e })
				test.run(&d)
				if test.at > 0 {
					time.Sleep(test.at - time.Since(began) + time.Second)
				}
				d.stop()
				if at != test.at || cause != test.cause {
					t.Errorf("%v %v, want %v %v", at, cause, test.at, test.cause)
				}
			})
		})
	}
}

// tick touches the watchdog once a second.
func tick(d *watchdog, times int) {
	for range times {
		time.Sleep(time.Second)
		d.touch()
	}
}
