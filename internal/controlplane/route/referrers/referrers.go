// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package referrers keeps, on Revisions and Configurations, which Routes lead to them: the annotation routes, and on Revisions
// the routing state that scaling and garbage collection go by (facts.md 4.4). It writes nothing else, and never a Route's
// status. Only package route imports it.
package referrers

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"weir.dev/api/serving"
	v1 "weir.dev/api/serving/v1"
)

// Targets are the names of what a Route refers to.
type Targets struct{ Revisions, Configurations sets.Set[string] }

// Of returns what route refers to, in spec and in status. latestCreated returns the newest Revision of a Configuration, ""
// if there is none: requests will come to it when it is ready, so its least scale is to hold before.
func Of(route *v1.Route, latestCreated func(configuration string) string) Targets {
	t := Targets{Revisions: sets.New[string](), Configurations: sets.New[string]()}
	for _, traffic := range [][]v1.TrafficTarget{route.Spec.Traffic, route.Status.Traffic} {
		for i := range traffic {
			if name := traffic[i].RevisionName; name != "" {
				t.Revisions.Insert(name)
			}
			if name := traffic[i].ConfigurationName; name != "" {
				t.Configurations.Insert(name)
				if created := latestCreated(name); created != "" {
					t.Revisions.Insert(created)
				}
			}
		}
	}
	return t
}

// Names returns the Routes that lead to an object with these annotations.
func Names(annotations map[string]string) []string {
	list := annotations[serving.RoutesAnnotationKey]
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

// change is what is to be written on an object; the zero value is nothing.
type change struct {
	// routes replaces the annotation; a pointer to nothing removes it.
	routes *[]string
	state  v1.RoutingState
}

// add returns what makes an object with these Routes led to by route, too.
func add(names []string, route string) change {
	if slices.Contains(names, route) {
		return change{}
	}
	names = append(slices.Clone(names), route)
	slices.Sort(names)
	return change{routes: &names}
}

// remove returns what makes an object with these Routes no longer led to by route.
func remove(names []string, route string) change {
	i := slices.Index(names, route)
	if i < 0 {
		return change{}
	}
	names = slices.Delete(slices.Clone(names), i, i+1)
	return change{routes: &names}
}

// addTo is add for a Revision, which becomes active.
func addTo(rev *v1.Revision, route string) change {
	c := add(Names(rev.Annotations), route)
	if rev.GetRoutingState() != v1.RoutingStateActive {
		c.state = v1.RoutingStateActive
	}
	return c
}

// removeFrom is remove for a Revision, which goes into reserve with its last Route.
func removeFrom(rev *v1.Revision, route string) change {
	c := remove(Names(rev.Annotations), route)
	if c.routes != nil && len(*c.routes) == 0 {
		c.state = v1.RoutingStateReserve
	}
	return c
}

// metadata is the merge patch of c for an object at resourceVersion; nil if c is nothing. The version makes it fail where
// another Route wrote in between.
func (c change) metadata(resourceVersion string, now time.Time) map[string]any {
	if c.routes == nil && c.state == "" {
		return nil
	}
	annotations, meta := map[string]any{}, map[string]any{"resourceVersion": resourceVersion}
	if c.routes != nil && len(*c.routes) == 0 {
		annotations[serving.RoutesAnnotationKey] = nil
	} else if c.routes != nil {
		annotations[serving.RoutesAnnotationKey] = strings.Join(*c.routes, ",")
	}
	if c.state != "" {
		annotations[serving.RoutingStateModifiedAnnotationKey] = now.UTC().Format(time.RFC3339)
		meta["labels"] = map[string]any{serving.RoutingStateLabelKey: string(c.state)}
	}
	meta["annotations"] = annotations
	return map[string]any{"metadata": meta}
}
