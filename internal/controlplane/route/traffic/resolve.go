// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"fmt"

	apierrs "k8s.io/apimachinery/pkg/api/errors"

	"weir.dev/api/serving"
	v1 "weir.dev/api/serving/v1"
)

// Problem is a target that requests cannot be led to.
type Problem struct {
	// Failed is false where the target may become ready on its own.
	Failed bool
	mark   func(*v1.RouteStatus)
}

// Mark writes the problem into the condition AllTrafficAssigned.
func (p *Problem) Mark(status *v1.RouteStatus) { p.mark(status) }

// Error implements error.
func (p *Problem) Error() string {
	status := &v1.RouteStatus{}
	p.mark(status)
	return status.GetCondition(v1.RouteConditionAllTrafficAssigned).GetMessage()
}

func failed(mark func(*v1.RouteStatus)) *Problem { return &Problem{Failed: true, mark: mark} }

func pending(mark func(*v1.RouteStatus)) *Problem { return &Problem{mark: mark} }

// resolve finds the Revision of one target.
func resolve(route *v1.Route, tt *v1.TrafficTarget, look Lookup) (*Target, *Problem, error) {
	t := &Target{Tag: tt.Tag, RevisionName: tt.RevisionName, ConfigurationName: tt.ConfigurationName}
	if tt.Percent != nil {
		t.Percent = *tt.Percent
	}
	if tt.ConfigurationName != "" {
		t.LatestRevision = true
		name, problem, err := latestOf(tt.ConfigurationName, look)
		if problem != nil || err != nil {
			return nil, problem, err
		}
		t.RevisionName = name
	}
	rev, problem, err := ready(t.RevisionName, look)
	if problem != nil || err != nil {
		return nil, problem, err
	}
	if problem := foreign(route, rev); problem != nil && tt.ConfigurationName == "" {
		return nil, problem, nil
	}
	t.Protocol = rev.GetProtocol()
	return t, nil, nil
}

// latestOf returns the name of the Revision that a Configuration offers.
func latestOf(name string, look Lookup) (string, *Problem, error) {
	config, err := look.Configuration(name)
	switch {
	case apierrs.IsNotFound(err):
		return "", failed(func(s *v1.RouteStatus) { s.MarkMissingTrafficTarget("Configuration", name) }), nil
	case err != nil:
		return "", nil, fmt.Errorf("getting Configuration %q: %w", name, err)
	case config.Status.LatestReadyRevisionName != "":
		return config.Status.LatestReadyRevisionName, nil, nil
	case config.IsFailed():
		return "", failed(func(s *v1.RouteStatus) { s.MarkConfigurationFailed(name) }), nil
	default:
		return "", pending(func(s *v1.RouteStatus) { s.MarkConfigurationNotReady(name) }), nil
	}
}

// ready returns the named Revision if it can serve.
func ready(name string, look Lookup) (*v1.Revision, *Problem, error) {
	rev, err := look.Revision(name)
	switch {
	case apierrs.IsNotFound(err):
		return nil, failed(func(s *v1.RouteStatus) { s.MarkMissingTrafficTarget("Revision", name) }), nil
	case err != nil:
		return nil, nil, fmt.Errorf("getting Revision %q: %w", name, err)
	case rev.IsReady():
		return rev, nil, nil
	case rev.IsFailed():
		return nil, failed(func(s *v1.RouteStatus) { s.MarkRevisionFailed(name) }), nil
	default:
		return nil, pending(func(s *v1.RouteStatus) { s.MarkRevisionNotReady(name) }), nil
	}
}

// Ahead returns what the traffic is going to mean: the newest Revision of each Configuration and each named one, Ready or not.
// It is nil where one of them is not there yet, or belongs to somebody else.
func Ahead(route *v1.Route, look Lookup) (*Plan, error) {
	var targets []Target
	for i := range route.Spec.Traffic {
		t, err := ahead(route, &route.Spec.Traffic[i], look)
		if t == nil || err != nil {
			return nil, err
		}
		targets = merge(targets, *t)
	}
	return &Plan{Targets: targets, Groups: group(targets)}, nil
}

func ahead(route *v1.Route, tt *v1.TrafficTarget, look Lookup) (*Target, error) {
	t := &Target{Tag: tt.Tag, RevisionName: tt.RevisionName, ConfigurationName: tt.ConfigurationName}
	if tt.Percent != nil {
		t.Percent = *tt.Percent
	}
	if tt.ConfigurationName != "" {
		config, err := look.Configuration(tt.ConfigurationName)
		if err != nil {
			return nil, ignoreNotFound(err)
		}
		t.LatestRevision = true
		t.RevisionName = config.Status.LatestCreatedRevisionName
	}
	if t.RevisionName == "" {
		return nil, nil
	}
	rev, err := look.Revision(t.RevisionName)
	if err != nil {
		return nil, ignoreNotFound(err)
	}
	if foreign(route, rev) != nil && tt.ConfigurationName == "" {
		return nil, nil
	}
	t.Protocol = rev.GetProtocol()
	return t, nil
}

func ignoreNotFound(err error) error {
	if apierrs.IsNotFound(err) {
		return nil
	}
	return err
}

// foreign refuses to lead a Service's Route to another Service's Revision.
func foreign(route *v1.Route, rev *v1.Revision) *Problem {
	service, owner := route.Labels[serving.ServiceLabelKey], rev.Labels[serving.ServiceLabelKey]
	if service == "" || service == owner {
		return nil
	}
	return failed(func(s *v1.RouteStatus) { s.MarkRevisionNotOwned(rev.Name, owner, service) })
}
