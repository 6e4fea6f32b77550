// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package traffic finds out what a Route's traffic means at the moment: which Revision each target is, which of them share the
// main host, and which host a tag has (facts.md 4.5). It reads through two functions and writes nothing. Only package
// route imports it.
package traffic

import (
	"slices"

	"weir.dev/api/networking"
	v1 "weir.dev/api/serving/v1"
	"weir.dev/pkg/ptr"
)

// Target is a Revision with its share of the requests.
type Target struct {
	Tag          string
	RevisionName string
	// ConfigurationName is the Configuration that the target follows, "" for a fixed Revision.
	ConfigurationName string
	// LatestRevision is what status is to say about that.
	LatestRevision bool
	Percent        int64
	Protocol       networking.ProtocolType
}

// Plan is the meaning of a Route's traffic.
type Plan struct {
	// Targets are the targets, equal ones merged, in the Route's order.
	Targets []Target
	// Groups are what each host leads to, by tag; "" is the main host. The shares of each sum to 100.
	Groups map[string][]Target
	// Rollout is the state of gradual rollouts, "" if there is none; see Deal.
	Rollout string
}

// Lookup finds objects of the Route's namespace; a missing one is an error that apierrs.IsNotFound knows.
type Lookup struct {
	Configuration func(name string) (*v1.Configuration, error)
	Revision      func(name string) (*v1.Revision, error)
}

// Resolve returns the plan of route. A *Problem is the Route's own; any other error is one of looking up.
func Resolve(route *v1.Route, look Lookup) (*Plan, error) {
	var worst *Problem
	targets := make([]Target, 0, len(route.Spec.Traffic))
	for i := range route.Spec.Traffic {
		t, problem, err := resolve(route, &route.Spec.Traffic[i], look)
		switch {
		case err != nil:
			return nil, err
		case problem == nil:
			targets = merge(targets, *t)
		case worst == nil || problem.Failed && !worst.Failed:
			worst = problem
		}
	}
	if worst != nil {
		return nil, worst
	}
	return &Plan{Targets: targets, Groups: group(targets)}, nil
}

// merge adds t to targets, to an equal one if there is one.
func merge(targets []Target, t Target) []Target {
	for i := range targets {
		same := targets[i]
		same.Percent = t.Percent
		if same == t {
			targets[i].Percent += t.Percent
			return targets
		}
	}
	return append(targets, t)
}

// group deals targets to their hosts: the main one has all that have a share, each tag its own target whole.
func group(targets []Target) map[string][]Target {
	groups := map[string][]Target{}
	for _, t := range targets {
		if t.Percent > 0 {
			share := t
			share.Tag = ""
			groups[""] = merge(groups[""], share)
		}
		if t.Tag != "" {
			groups[t.Tag] = merge(groups[t.Tag], t)
		}
	}
	for _, g := range groups {
		if len(g) == 1 {
			g[0].Percent = 100
		}
	}
	return groups
}

// Status returns the entry for t of a Route's status; the URL of a tag is the caller's.
func (t Target) Status() v1.TrafficTarget {
	return v1.TrafficTarget{
		Tag:            t.Tag,
		RevisionName:   t.RevisionName,
		LatestRevision: ptr.Bool(t.LatestRevision),
		Percent:        ptr.Int64(t.Percent),
	}
}

// Tags returns the tags of all groups, sorted.
func (p *Plan) Tags() []string {
	tags := make([]string, 0, len(p.Groups))
	for tag := range p.Groups {
		if tag != "" {
			tags = append(tags, tag)
		}
	}
	slices.Sort(tags)
	return tags
}
