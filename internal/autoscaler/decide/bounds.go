// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package decide

// Bounds are the limits that an operator sets.
type Bounds struct {
	// Min and Max are the least and the greatest count; Max 0 is none.
	Min, Max int32
	// Initial is the count that a revision needs once before it is ready.
	Initial int32
	// Initialized says that it had them.
	Initialized bool
	// Unreachable says that no route names the revision: it may go to zero whatever Min says.
	Unreachable bool
}

// Apply holds a desired count within the bounds. Unknown stays unknown.
func (b Bounds) Apply(desired int32) int32 {
	if desired == Unknown {
		return Unknown
	}
	desired = max(desired, b.Least())
	if b.Max > 0 {
		desired = min(desired, b.Max)
	}
	return desired
}

// ActiveAt is the number of ready instances from which the revision counts as active.
func (b Bounds) ActiveAt() int32 {
	least := b.Min
	if b.Unreachable {
		least = 0
	}
	if !b.Initialized {
		return max(least, b.Initial)
	}
	return max(least, 1)
}

// Least is the count that there is in any case.
func (b Bounds) Least() int32 {
	if b.Unreachable {
		return 0
	}
	if !b.Initialized && b.Initial > 1 {
		return max(b.Min, b.Initial)
	}
	return b.Min
}
