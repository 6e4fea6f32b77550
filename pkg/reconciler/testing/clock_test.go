// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package testing

import (
	"testing"
	"time"
)

func TestFakeClock(t *testing.T) {
	start := time.Unix(100, 0)
	clock := &FakeClock{Time: start}
	if got := clock.Now(); got != start {
		t.Errorf("Now is %v, want the time that it stands at", got)
	}
	clock.Time = start.Add(time.Minute)
	if got := clock.Since(start); got != time.Minute {
		t.Errorf("Since is %v after it was put on by a minute", got)
	}
}
