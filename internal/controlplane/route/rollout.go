// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"context"
	"fmt"
	"maps"
	"slices"

	apierrs "k8s.io/apimachinery/pkg/api/errors"

	"weir.dev/api/networking"
	netv1alpha1 "weir.dev/api/networking/v1alpha1"
	v1 "weir.dev/api/serving/v1"
	"weir.dev/internal/controlplane/route/desired"
	"weir.dev/internal/controlplane/route/rollout"
	"weir.dev/internal/controlplane/route/traffic"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/logging"
)

// rollOut deals the shares that follow a Configuration among its Revisions while a rollout goes on, and returns its state. What
// was programmed last stands in the Ingress.
func (r *Reconciler) rollOut(ctx context.Context, route *v1.Route, plan *traffic.Plan) (rollout.State, error) {
	duration := networkOf(ctx).RolloutDuration
	if d, ok := route.RolloutDuration(); ok {
		duration = d
	}
	programmed, err := r.ingresses.Ingresses(route.Namespace).Get(desired.IngressName(route))
	if apierrs.IsNotFound(err) {
		programmed, err = &netv1alpha1.Ingress{}, nil
	}
	if err != nil {
		return rollout.State{}, fmt.Errorf("getting Ingress of Route %q: %w", route.Name, err)
	}
	was, err := rollout.Parse(programmed.Annotations[networking.RolloutAnnotationKey])
	if err != nil {
		logging.FromContext(ctx).Warnw("Traffic moves at once", "error", err)
	}
	state := was.Next(r.goals(route, plan), rollout.Input{Now: r.now(), Duration: duration, Programmed: programmed.IsReady()})
	return state, plan.Deal(state, r.lookup(route))
}

// goals are the shares that follow Configurations, group by group.
func (r *Reconciler) goals(route *v1.Route, plan *traffic.Plan) []rollout.Goal {
	var goals []rollout.Goal
	for _, tag := range slices.Sorted(maps.Keys(plan.Groups)) {
		for _, t := range plan.Groups[tag] {
			if t.ConfigurationName != "" {
				goals = append(goals, rollout.Goal{
					ConfigurationName: t.ConfigurationName, Tag: tag, RevisionName: t.RevisionName, Percent: int(t.Percent),
					Short: r.isShort(route.Namespace, t.RevisionName),
				})
			}
		}
	}
	return goals
}

// isShort says whether a Revision is to have more instances than are ready. Its Route is reconciled when that changes.
func (r *Reconciler) isShort(namespace, revision string) bool {
	rev, err := r.revisions.Revisions(namespace).Get(revision)
	if err != nil || rev.Status.DesiredReplicas == nil {
		return false
	}
	return rev.Status.ActualReplicas == nil || *rev.Status.ActualReplicas < *rev.Status.DesiredReplicas
}

// markRollout says that a rollout goes on, and asks for the run that makes its next step.
func (r *Reconciler) markRollout(route *v1.Route, state rollout.State) error {
	if !state.InProgress() {
		return nil
	}
	if route.Status.GetCondition(v1.RouteConditionIngressReady).IsTrue() {
		route.Status.MarkIngressRolloutInProgress()
	}
	if wait := state.Wait(r.now()); wait > 0 {
		return controller.NewRequeueAfter(wait)
	}
	return nil
}
