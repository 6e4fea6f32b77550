// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package service

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrs "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	v1 "weir.dev/api/serving/v1"
	clientset "weir.dev/client/clientset/versioned"
	servicereconciler "weir.dev/client/injection/reconciler/serving/v1/service"
	listers "weir.dev/client/listers/serving/v1"
	"weir.dev/internal/controlplane/lineage"
	"weir.dev/internal/controlplane/service/follow"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/reconciler"
)

// Reconciler makes the Configuration and the Route of a Service.
type Reconciler struct {
	client         clientset.Interface
	configurations listers.ConfigurationLister
	routes         listers.RouteLister
	revisions      listers.RevisionLister
	follow         Follower
}

// Follower says what a template is stamped with; see package follow.
type Follower interface {
	Stamps(ctx context.Context, svc *v1.Service, config *v1.Configuration, latest *v1.Revision) follow.Stamps
	OnDone(f func(types.NamespacedName))
}

var _ servicereconciler.Interface = (*Reconciler)(nil)

// ReconcileKind implements servicereconciler.Interface.
func (r *Reconciler) ReconcileKind(ctx context.Context, svc *v1.Service) reconciler.Event {
	config, again, err := r.configuration(ctx, svc)
	if err != nil {
		return err
	}
	if err := r.reflect(ctx, svc, config); err != nil || again == 0 {
		return err
	}
	return controller.NewRequeueAfter(again)
}

// reflect brings the Route, and the status of svc, to where config is.
func (r *Reconciler) reflect(ctx context.Context, svc *v1.Service, config *v1.Configuration) error {
	reflectConfiguration(&svc.Status, config)
	if name := svc.Spec.Template.Name; name != "" {
		if stop, err := r.mustWait(ctx, svc, config, name); stop || err != nil {
			return err
		}
	}
	route, err := r.route(ctx, svc)
	if err != nil {
		return err
	}
	reflectRoute(&svc.Status, config, route)
	return nil
}

// mustWait says whether the Route is to be left as it is: with a revision name of the user's choice, traffic may follow only
// once it is known that the name means what the user wrote.
func (r *Reconciler) mustWait(ctx context.Context, svc *v1.Service, config *v1.Configuration, name string) (bool, error) {
	if !caughtUp(config.Generation, config.Status.ObservedGeneration) {
		return true, nil
	}
	rev, err := r.revisions.Revisions(config.Namespace).Get(name)
	switch {
	case apierrs.IsNotFound(err):
		return false, nil // the Configuration says whether that is its failure
	case err != nil:
		return true, err
	}
	if lineage.Conflicts(ctx, config, rev) {
		if err := controller.AwaitCollection(rev, config); err != nil {
			return true, err
		}
		svc.Status.MarkRevisionNameTaken(name)
		return true, nil
	}
	return false, nil
}

// reflectConfiguration copies the Configuration's status, once it stands for the present generation.
func reflectConfiguration(status *v1.ServiceStatus, config *v1.Configuration) {
	if !caughtUp(config.Generation, config.Status.ObservedGeneration) {
		status.MarkConfigurationNotReconciled()
		return
	}
	status.PropagateConfigurationStatus(&config.Status)
}

// reflectRoute copies the Route's status, once it stands for the present generation.
func reflectRoute(status *v1.ServiceStatus, config *v1.Configuration, route *v1.Route) {
	if !caughtUp(route.Generation, route.Status.ObservedGeneration) {
		status.MarkRouteNotReconciled()
		return
	}
	status.PropagateRouteStatus(&route.Status)
	if !status.GetCondition(v1.ServiceConditionConfigurationsReady).IsTrue() {
		// What keeps the Configuration from being ready is why the Route is not, and Ready gives the reason that was set last.
		reflectConfiguration(status, config)
	}
	if status.GetCondition(v1.ServiceConditionRoutesReady).IsTrue() &&
		!migrated(route, config.Status.LatestReadyRevisionName) {
		status.MarkRouteNotYetReady()
	}
}

// migrated says whether the Route programs what its spec asks for now that latestReady is what the Configuration offers.
func migrated(route *v1.Route, latestReady string) bool {
	return equality.Semantic.DeepEqual(shares(route.Spec.Traffic, latestReady), shares(route.Status.Traffic, latestReady))
}

// share is one way that requests go: by a tag's host, or with their part of all.
type share struct{ tag, revision string }

// shares sums up traffic; what follows the Configuration counts as latest.
func shares(traffic []v1.TrafficTarget, latest string) map[share]int64 {
	sum := make(map[share]int64, len(traffic))
	for i := range traffic {
		t := &traffic[i]
		revision := t.RevisionName
		if t.ConfigurationName != "" {
			revision = latest
		}
		percent := int64(0)
		if t.Percent != nil {
			percent = *t.Percent
		}
		sum[share{t.Tag, revision}] += percent
	}
	return sum
}

func caughtUp(generation, observed int64) bool { return generation == observed }
