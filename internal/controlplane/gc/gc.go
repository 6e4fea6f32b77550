// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package gc removes superseded Revisions that nobody routes to, by the operator's rules in config-gc (facts.md 4.8). It looks
// whenever a Configuration changes.
package gc

import (
	"cmp"
	"slices"
	"time"

	"weir.dev/api/serving"
	v1 "weir.dev/api/serving/v1"
	"weir.dev/internal/controlplane/config"
)

// collect returns which of all Revisions of a Configuration are to go, the one longest out of use first. latestReady is never
// one of them.
func collect(cfg *config.GC, latestReady string, all []*v1.Revision, now time.Time) []*v1.Revision {
	ages := cfg.RetainSinceCreateTime != config.Disabled || cfg.RetainSinceLastActiveTime != config.Disabled
	if !ages && cfg.MaxNonActiveRevisions == config.Disabled || int64(len(all)) <= cfg.MinNonActiveRevisions {
		return nil
	}
	idle := slices.DeleteFunc(slices.Clone(all), func(rev *v1.Revision) bool { return active(rev, latestReady) })
	slices.SortStableFunc(idle, func(a, b *v1.Revision) int {
		return cmp.Or(lastActive(a).Compare(lastActive(b)), cmp.Compare(a.Name, b.Name))
	})

	var gone []*v1.Revision
	kept := int64(len(idle))
	rest := make([]*v1.Revision, 0, len(idle))
	for _, rev := range idle {
		if ages && kept > cfg.MinNonActiveRevisions && stale(cfg, rev, now) {
			gone, kept = append(gone, rev), kept-1
			continue
		}
		rest = append(rest, rev)
	}
	if over := kept - cfg.MaxNonActiveRevisions; cfg.MaxNonActiveRevisions != config.Disabled && over > 0 {
		gone = append(gone, rest[:over]...)
	}
	return gone
}

// active says whether rev is in use, or may be, or is kept by its user.
func active(rev *v1.Revision, latestReady string) bool {
	return rev.Name == latestReady ||
		rev.Annotations[serving.RevisionPreservedAnnotationKey] == "true" ||
		rev.GetRoutingState() != v1.RoutingStateReserve
}

// stale says whether rev is past all ages that count.
func stale(cfg *config.GC, rev *v1.Revision, now time.Time) bool {
	past := func(since time.Time, age time.Duration) bool { return age == config.Disabled || now.Sub(since) > age }
	return past(rev.CreationTimestamp.Time, cfg.RetainSinceCreateTime) && past(lastActive(rev), cfg.RetainSinceLastActiveTime)
}

// lastActive is when rev was last routed to, or made.
func lastActive(rev *v1.Revision) time.Time {
	if at := rev.GetRoutingStateModified(); !at.IsZero() {
		return at
	}
	return rev.CreationTimestamp.Time
}
