// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package decide

import "time"

// Activity is the state of a PodAutoscaler's condition Active.
type Activity int

const (
	// Activating (Unknown) means that instances are wanted and not all there.
	Activating Activity = iota
	// Active (True) means that they are there.
	Active
	// Inactive (False) means that none is wanted.
	Inactive
)

// Reasons of the condition Active.
const (
	ReasonNoTraffic = "NoTraffic"
	ReasonQueued    = "Queued"
	ReasonTimedOut  = "TimedOut"
)

// NextActivity is the condition that follows from what is wanted (Unknown included), how many instances are ready and
// from how many on the revision is active, and from the condition before.
func NextActivity(want, ready, activeAt int32, was Activity) (now Activity, reason string) {
	switch {
	case activeAt == 0:
		return Inactive, ReasonNoTraffic
	case want == 0 && was == Activating:
		return Inactive, ReasonTimedOut
	case want == 0:
		return Inactive, ReasonNoTraffic
	case want > 0 && ready < activeAt:
		return Activating, ReasonQueued
	case want > 0:
		return Active, ""
	case was == Inactive:
		return Inactive, ReasonNoTraffic
	case ready < activeAt:
		return Activating, ReasonQueued
	}
	return Active, ""
}

// Idle is the state of a revision for which no instance is wanted.
type Idle struct {
	// Activity and For say in what state it is and for how long.
	Activity Activity
	For      time.Duration
	// Replicas is what its Deployment asks for now.
	Replicas int32
	// Busy says that a request waits or is in hand.
	Busy bool
}

// ZeroRules say when a revision may have no instance.
type ZeroRules struct {
	// Enabled is false where the last instance always stays.
	Enabled bool
	// Window is how long it must have been active before it becomes inactive.
	Window time.Duration
	// Grace and Retention are how long the last instances stay afterwards: the longer one counts.
	Grace, Retention time.Duration
	// Activation is how long a start may take before it is given up.
	Activation time.Duration
}

// Verdict says how a wish for zero is carried out.
type Verdict struct {
	// Want is the count to show and, if Apply is set, to scale to. It may be Unknown.
	Want  int32
	Apply bool
	// Recheck is when to ask again, 0 when no clock is waited for.
	Recheck time.Duration
}

// ToZero decides about a revision for which no instance is wanted. Gateways are always in the path of requests, so the
// only question is how long the last instances stay.
func (r ZeroRules) ToZero(i Idle) Verdict {
	switch {
	case !r.Enabled, i.Busy:
		return Verdict{Want: 1, Apply: true}
	case i.Activity == Activating:
		return r.whileActivating(i)
	case i.Activity == Active:
		return r.whileActive(i)
	}
	stay := max(r.Grace, r.Retention)
	if i.For >= stay || i.Replicas == 0 {
		return Verdict{Want: 0, Apply: true}
	}
	return Verdict{Want: 0, Recheck: stay - i.For}
}

func (r ZeroRules) whileActivating(i Idle) Verdict {
	if i.For < r.Activation {
		return Verdict{Want: Unknown, Recheck: r.Activation - i.For}
	}
	return Verdict{Want: 0, Apply: true}
}

func (r ZeroRules) whileActive(i Idle) Verdict {
	if i.For < r.Window {
		return Verdict{Want: 1, Apply: true, Recheck: r.Window - i.For}
	}
	return Verdict{Want: 0, Recheck: max(r.Grace, r.Retention)}
}
