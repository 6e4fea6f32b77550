// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package autoscaler

import "time"

// stale is after how long without statistics a gateway counts as lost. They come every second.
const stale = 3 * time.Second

// coverage knows for which time the gateways' figures are complete. It is not safe for concurrent use.
type coverage struct {
	gateways map[string]*gateway
	since    time.Time // zero while nothing is known
	// losses counts the times at which figures may have got lost. A loop that sees it grow lets nothing fall for a window.
	losses int
}

type gateway struct {
	until time.Time // end of the last period that it reported; zero before the first
	lost  bool
}

// span is a moment's coverage.
type span struct {
	since, until time.Time
	losses       int
}

// report notes that a gateway's figures are complete until now.
func (c *coverage) report(name string, now time.Time) {
	g := c.see(name)
	g.until, g.lost = now, false
	if c.since.IsZero() {
		c.since = now.Add(-time.Second)
		c.losses++ // of what was before
	}
}

// see notes that there is a gateway, whatever it knows.
func (c *coverage) see(name string) *gateway {
	g := c.gateways[name]
	if g == nil {
		g = &gateway{}
		c.gateways[name] = g
	}
	return g
}

// drop forgets a gateway.
func (c *coverage) drop(name string) {
	if g := c.gateways[name]; g != nil && !g.until.IsZero() {
		c.lose(g)
	}
	delete(c.gateways, name)
}

// at is the coverage now: from when figures came without a gap, to the time up to which all living gateways reported.
func (c *coverage) at(now time.Time) span {
	s := span{since: c.since}
	alive := 0
	for _, g := range c.gateways {
		if g.until.IsZero() {
			continue
		}
		if now.Sub(g.until) > stale {
			c.lose(g)
			continue
		}
		if alive == 0 || g.until.Before(s.until) {
			s.until = g.until
		}
		alive++
	}
	if alive == 0 {
		c.since = time.Time{}
		s = span{since: now, until: now}
	}
	s.losses = c.losses
	return s
}

func (c *coverage) lose(g *gateway) {
	if !g.lost {
		g.lost = true
		c.losses++
	}
}

// current says whether figures that a gateway sent at a time are its newest.
func (c *coverage) current(name string, at time.Time) bool {
	g := c.gateways[name]
	return g != nil && !at.Before(g.until)
}
