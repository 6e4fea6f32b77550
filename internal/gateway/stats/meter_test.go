// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"testing"
	"time"
)

const second = int64(time.Second)

func TestMeterIsExact(t *testing.T) {
	var m Meter
	m.Take(10 * second)
	m.Arrive(10*second + second/4)
	m.Arrive(10*second + second/2)
	m.Leave(10*second + second/2)
	m.Leave(10*second + 3*second/4)
	m.Leave(10 * second) // a clock read before the lock was had: no time goes backwards
	m.Arrive(10 * second)
	p := m.Take(11 * second)
	// One request from 0.25 to 0.75; the last two cancel out from 0.75 on.
	if p.Concurrency != 0.5 || p.Requests != 3 || p.Length != time.Second {
		t.Errorf("%+v", p)
	}
	if p := m.Take(12 * second); p.Concurrency != 0 || p.Requests != 0 || m.Count() != 0 {
		t.Errorf("%+v, count %d", p, m.Count())
	}
}

// What is in hand when a period ends counts in the next one too, for its time but not as an arrival.
func TestMeterCarriesOver(t *testing.T) {
	var m Meter
	m.Take(0)
	m.Arrive(second / 2)
	if p := m.Take(second); p.Concurrency != 0.5 || p.Requests != 1 {
		t.Errorf("%+v", p)
	}
	if p := m.Take(2 * second); p.Concurrency != 1 || p.Requests != 0 {
		t.Errorf("%+v", p)
	}
	if p := m.Take(2 * second); p.Concurrency != 0 || p.Length != 0 {
		t.Errorf("an empty period: %+v", p)
	}
}
