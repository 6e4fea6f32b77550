// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package testing

import (
	"time"

	"k8s.io/utils/clock"
)

// FakeClock stands still at its time: for reconcilers that take a
// clock.PassiveClock instead of asking the machine. Assign Time to go on.
type FakeClock struct{ Time time.Time }

var _ clock.PassiveClock = (*FakeClock)(nil)

// Now implements clock.PassiveClock.
func (c *FakeClock) Now() time.Time { return c.Time }

// Since implements clock.PassiveClock.
func (c *FakeClock) Since(t time.Time) time.Duration { return c.Time.Sub(t) }
