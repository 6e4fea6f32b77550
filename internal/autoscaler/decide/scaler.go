// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package decide

import (
	"math"
	"time"
)

// Params are one revision's resolved settings.
type Params struct {
	// Total is what one instance can take: requests in hand, or requests a second.
	Total float64
	// Target is the part of Total that the scaler aims at; greater than 0.
	Target float64
	// TargetBurstCapacity is the burst that must fit beside the load; -1 is unlimited, 0 none.
	TargetBurstCapacity float64

	// StableWindow is the long window; PanicWindow the short one, at least a second.
	StableWindow, PanicWindow time.Duration
	// PanicThreshold is the ratio of wanted to ready instances that starts a panic, for example 2.
	PanicThreshold float64
	// Algorithm averages both windows.
	Algorithm Algorithm

	// MaxScaleUpRate and MaxScaleDownRate, both above 1, limit the change by one decision to a factor.
	MaxScaleUpRate, MaxScaleDownRate float64
	// ActivationScale is the least number of instances when there are any; 0 and 1 mean none.
	ActivationScale int32
	// ScaleDownDelay is how long a count must be too high before it is lowered.
	ScaleDownDelay time.Duration
	// Reachable is false for a revision that no route names; it may drop at once.
	Reachable bool
}

// Input is what is known at the moment of a decision.
type Input struct {
	Now time.Time
	// Since and Until bound the time for which gateways' figures are complete. Outside, nothing is known.
	Since, Until time.Time
	// Ready is the number of instances that serve.
	Ready int32
	// Waiting is the number of requests held at this moment. It counts only while no instance is ready, when they are
	// the exact measure of the load that waits and no average exists yet.
	Waiting int
}

// Unknown is the desired scale while nothing is known.
const Unknown int32 = -1

// Decision is what a Scaler concludes.
type Decision struct {
	// Desired is the wanted number of instances before Bounds, or Unknown.
	Desired int32
	// ExcessBurst is the burst capacity that is left; negative when there is too little.
	ExcessBurst float64
	// Stable and Panic are the averages that led to it.
	Stable, Panic float64
	// Panicking says that the short window rules.
	Panicking bool
}

// Scaler decides for one revision. It remembers measurements and the state of a panic.
type Scaler struct {
	params  Params
	window  *Window
	recent  peaks
	crossed time.Time // last time the panic threshold was met; zero when not in a panic
	floor   int32     // least desired count of this panic
	hold    hold
}

// hold forbids to go below floor until a time: a scaler that just began does not know what it has not seen.
type hold struct {
	floor int32
	until time.Time
}

// New returns a scaler that has seen nothing yet.
func New(p Params) *Scaler {
	return &Scaler{params: p, window: NewWindow(p.StableWindow)}
}

// Begin tells a new scaler how many instances there are. If there are some, it has taken over from another and keeps at
// least that many for one stable window, with more than one as if in a panic.
func (s *Scaler) Begin(now time.Time, ready int32) {
	s.Hold(now, ready)
	if ready > 1 {
		s.crossed, s.floor = now, ready
	}
}

// SetParams changes the settings. A longer window starts from what the shorter one remembers.
func (s *Scaler) SetParams(p Params) {
	if p.StableWindow != s.params.StableWindow {
		s.window = s.window.resized(p.StableWindow)
	}
	s.params = p
}

// Add records a measurement: the integral of the metric over the period that ended at end.
func (s *Scaler) Add(end time.Time, period time.Duration, amount float64) {
	s.window.Add(end, period, amount)
}

// Hold forbids to go below count for one stable window, for a time in which measurements were lost.
func (s *Scaler) Hold(now time.Time, count int32) {
	s.hold = hold{floor: count, until: now.Add(s.params.StableWindow)}
}

// Decide gives the desired scale.
func (s *Scaler) Decide(in Input) Decision {
	stable, ok := s.window.Average(in.Since, in.Until, s.params.StableWindow, s.params.Algorithm)
	short, _ := s.window.Average(in.Since, in.Until, s.params.PanicWindow, s.params.Algorithm)
	if in.Ready == 0 && in.Waiting > 0 {
		ok = true
		short = max(short, float64(in.Waiting))
	}
	if !ok {
		return Decision{Desired: Unknown, ExcessBurst: s.excessBurst(in.Ready, 0)}
	}
	desired := s.desired(in, stable, short)
	desired = s.delayed(in.Now, desired)
	if in.Now.Before(s.hold.until) {
		desired = max(desired, s.hold.floor)
	}
	return Decision{
		Desired: desired, Stable: stable, Panic: short, Panicking: !s.crossed.IsZero(),
		ExcessBurst: s.excessBurst(in.Ready, short),
	}
}

// desired is the count by both windows, limits of rate and the panic rule.
func (s *Scaler) desired(in Input, stable, short float64) int32 {
	rawStable, rawPanic := ceil(stable/s.params.Target), ceil(short/s.params.Target)
	desiredStable, desiredPanic := s.limited(rawStable, in.Ready), s.limited(rawPanic, in.Ready)
	s.updatePanic(in, rawPanic)
	switch {
	case !s.crossed.IsZero():
		s.floor = max(s.floor, clampInt(max(desiredStable, desiredPanic)))
		return s.floor
	case in.Ready == 0 && in.Waiting > 0: // what waits must be served, before any average says so
		return clampInt(max(desiredStable, desiredPanic))
	}
	return clampInt(desiredStable)
}

// limited holds a raw count within the rates and raises it to the activation scale.
func (s *Scaler) limited(raw float64, ready int32) float64 {
	r := float64(max(1, ready))
	down := 0.0
	if s.params.Reachable {
		down = math.Floor(r / s.params.MaxScaleDownRate)
	}
	count := min(max(raw, down), math.Ceil(s.params.MaxScaleUpRate*r))
	if raw > 0 && s.params.ActivationScale > 1 {
		count = max(count, float64(s.params.ActivationScale))
	}
	return count
}

// updatePanic enters, prolongs or ends a panic.
func (s *Scaler) updatePanic(in Input, rawPanic float64) {
	switch {
	case rawPanic/float64(max(1, in.Ready)) >= s.params.PanicThreshold:
		s.crossed = in.Now
	case !s.crossed.IsZero() && in.Now.Sub(s.crossed) > s.params.StableWindow:
		s.crossed, s.floor = time.Time{}, 0
	}
}

// delayed is the most that was desired within the scale-down delay.
func (s *Scaler) delayed(now time.Time, desired int32) int32 {
	if s.params.ScaleDownDelay <= 0 || !s.params.Reachable {
		s.recent = nil
		return desired
	}
	return s.recent.push(now, desired, s.params.ScaleDownDelay)
}

func (s *Scaler) excessBurst(ready int32, short float64) float64 {
	switch burst := s.params.TargetBurstCapacity; burst {
	case 0, -1:
		return burst
	default:
		return math.Floor(float64(ready)*s.params.Total - burst - short)
	}
}

// ceil rounds up, forgiving the rounding errors of the sums that led to x.
func ceil(x float64) float64 { return math.Ceil(x * (1 - 1e-9)) }

func clampInt(x float64) int32 { return int32(min(x, math.MaxInt32)) }
