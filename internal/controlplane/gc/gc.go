// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package gc removes superseded Revisions that nobody routes to, by the operator's rules in config-gc (facts.md 4.8), or as the
// Configuration says. It looks whenever a Configuration changes.
package gc

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"weir.dev/api/serving"
	v1 "weir.dev/api/serving/v1"
	"weir.dev/internal/controlplane/config"
)

// rulesFor are the operator's rules, unless the Configuration says how many unrouted Revisions it keeps: then those that were
// routed to last stay, whatever their age, and no others.
func rulesFor(cfg *v1.Configuration, rules *config.GC) *config.GC {
	keep, all, ok := serving.RetainRevisions(cfg.Annotations)
	if !ok {
		return rules
	}
	own := &config.GC{
		RetainSinceCreateTime: config.Disabled, RetainSinceLastActiveTime: config.Disabled,
		MinNonActiveRevisions: keep, MaxNonActiveRevisions: keep,
	}
	if all {
		own.MaxNonActiveRevisions = config.Disabled
	}
	return own
}

// collect returns which of all Revisions of a Configuration are to go, the one longest out of use first. None of its latest is
// one of them: they are what it would make again, or lead requests to.
func collect(rules *config.GC, latest v1.ConfigurationStatusFields, all []*v1.Revision, now time.Time) []*v1.Revision {
	ages := rules.RetainSinceCreateTime != config.Disabled || rules.RetainSinceLastActiveTime != config.Disabled
	if !ages && rules.MaxNonActiveRevisions == config.Disabled || int64(len(all)) <= rules.MinNonActiveRevisions {
		return nil
	}
	idle := slices.DeleteFunc(slices.Clone(all), func(rev *v1.Revision) bool { return active(rev, latest) })
	slices.SortStableFunc(idle, func(a, b *v1.Revision) int {
		return cmp.Or(lastActive(a).Compare(lastActive(b)), cmp.Compare(a.Name, b.Name))
	})

	var gone []*v1.Revision
	kept := int64(len(idle))
	rest := make([]*v1.Revision, 0, len(idle))
	for _, rev := range idle {
		if ages && kept > rules.MinNonActiveRevisions && stale(rules, rev, now) {
			gone, kept = append(gone, rev), kept-1
			continue
		}
		rest = append(rest, rev)
	}
	if over := kept - rules.MaxNonActiveRevisions; rules.MaxNonActiveRevisions != config.Disabled && over > 0 {
		gone = append(gone, rest[:over]...)
	}
	return gone
}

// active says whether rev is in use, or may be, or is kept by its user.
func active(rev *v1.Revision, latest v1.ConfigurationStatusFields) bool {
	return rev.Name == latest.LatestReadyRevisionName || rev.Name == latest.LatestCreatedRevisionName ||
		strings.EqualFold(rev.Annotations[serving.RevisionPreservedAnnotationKey], "true") ||
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
