// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"math"
	"slices"
	"time"
)

// first is the share, in percent, that a new Revision begins with.
const first = 1

// next returns what follows c, which is nil where nothing is known.
func (c *Configuration) next(g Goal, in Input) Configuration {
	done := Configuration{
		ConfigurationName: g.ConfigurationName, Tag: g.Tag, Percent: g.Percent,
		Revisions: []Revision{{RevisionName: g.RevisionName, Percent: g.Percent}},
	}
	if c == nil || len(c.Revisions) == 0 || g.Percent <= first {
		return done
	}
	n := *c
	n.held = false
	n.Revisions = slices.Clone(c.Revisions)
	n.rescale(g.Percent)
	switch newest := n.Revisions[len(n.Revisions)-1]; {
	case newest.RevisionName != g.RevisionName:
		n.begin(g.RevisionName, in.Now)
	case len(n.Revisions) > 1:
		n.step(g, in)
	}
	if len(n.Revisions) == 1 {
		return done
	}
	return n
}

// rescale makes the share percent: what is added goes to the newest Revision, what is taken comes from the oldest first.
func (c *Configuration) rescale(percent int) {
	newest := len(c.Revisions) - 1
	if percent > c.Percent {
		c.Revisions[newest].Percent += percent - c.Percent
	}
	for i, take := 0, c.Percent-percent; take > 0 && i <= newest; i++ {
		part := min(take, c.Revisions[i].Percent)
		c.Revisions[i].Percent -= part
		take -= part
	}
	c.Percent = percent
	c.drop()
}

// begin gives a new Revision its first share, taken from the newest one that has any.
func (c *Configuration) begin(revision string, now time.Time) {
	share := first
	c.Revisions = slices.DeleteFunc(c.Revisions, func(r Revision) bool {
		again := r.RevisionName == revision // it was the newest before, and is again
		if again {
			share = r.Percent
		}
		return again
	})
	if share == first && len(c.Revisions) > 0 {
		share = c.take(len(c.Revisions)-1, first)
	}
	c.Revisions = append(c.Revisions, Revision{RevisionName: revision, Percent: share})
	c.Step = Step{StartTime: now.UnixNano()}
	c.drop()
}

// step plans the steps once the first share is programmed, and makes one that is due; never before the last one is
// programmed and has the instances that it needs, so that no share grows faster than who is to serve it.
func (c *Configuration) step(g Goal, in Input) {
	now := in.Now.UnixNano()
	due := c.Step.StepSize != 0 && now >= c.Step.NextStepTime
	switch {
	case !in.Programmed || g.Short:
		c.held = due
	case c.Step.StepSize == 0:
		c.plan(in)
	case due:
		newest := len(c.Revisions) - 1
		c.Revisions[newest].Percent += c.take(newest-1, c.Step.StepSize)
		c.Step.NextStepTime = now + c.Step.StepDuration
		c.drop()
	}
}

// plan divides the time that is left after the first step, which took as long as the new Revision needed to serve, into steps
// that are not shorter than that.
func (c *Configuration) plan(in Input) {
	const second = int64(time.Second)
	shortest := max(1, int64(math.Ceil(in.Now.Sub(time.Unix(0, c.Step.StartTime)).Seconds())))
	left := max(1, int64(in.Duration/time.Second)-shortest)
	rest := c.Percent - first
	steps := min(max(1, left/shortest), int64(rest))
	c.Step.StepSize = max(1, int(math.Round(float64(rest)/float64(steps))))
	c.Step.StepDuration = left * second / steps
	c.Step.NextStepTime = in.Now.UnixNano() + c.Step.StepDuration
}

// take takes up to percent from the Revisions up to i, the newest of them first, and returns how much it got.
func (c *Configuration) take(i, percent int) int {
	got := 0
	for ; i >= 0 && got < percent; i-- {
		part := min(percent-got, c.Revisions[i].Percent)
		c.Revisions[i].Percent -= part
		got += part
	}
	return got
}

// drop forgets Revisions that have no part any more, but the newest.
func (c *Configuration) drop() {
	newest := c.Revisions[len(c.Revisions)-1]
	c.Revisions = slices.DeleteFunc(c.Revisions, func(r Revision) bool { return r.Percent == 0 && r != newest })
}
