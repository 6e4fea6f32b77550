// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package testing

import (
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

// FakeClock stands still until it is set: for reconcilers that take a
// clock.PassiveClock instead of asking the machine.
type FakeClock = clocktesting.FakePassiveClock

// NewFakeClock returns a clock that stands at t.
func NewFakeClock(t time.Time) *FakeClock { return clocktesting.NewFakePassiveClock(t) }
