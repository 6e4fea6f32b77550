// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"context"
	"errors"
	"time"

	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"

	netv1alpha1 "weir.dev/api/networking/v1alpha1"
	v1 "weir.dev/api/serving/v1"
	clientset "weir.dev/client/clientset/versioned"
	routereconciler "weir.dev/client/injection/reconciler/serving/v1/route"
	netlisters "weir.dev/client/listers/networking/v1alpha1"
	listers "weir.dev/client/listers/serving/v1"
	"weir.dev/internal/controlplane/config"
	"weir.dev/internal/controlplane/route/hosts"
	"weir.dev/internal/controlplane/route/referrers"
	"weir.dev/internal/controlplane/route/traffic"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/reconciler"
	"weir.dev/pkg/tracker"
)

// Reconciler programs Routes.
type Reconciler struct {
	kube           kubernetes.Interface
	client         clientset.Interface
	configurations listers.ConfigurationLister
	revisions      listers.RevisionLister
	ingresses      netlisters.IngressLister
	services       corelisters.ServiceLister
	// claimants returns the Ingresses of all namespaces that name a host.
	claimants func(host string) ([]*netv1alpha1.Ingress, error)
	referrers *referrers.Writer
	tracker   tracker.Interface
	now       func() time.Time
	entries   entries
}

var (
	_ routereconciler.Interface = (*Reconciler)(nil)
	_ routereconciler.Finalizer = (*Reconciler)(nil)
)

// errStop ends a reconcile whose outcome stands in the status and does not change by trying again.
var errStop = errors.New("nothing more to do")

// ReconcileKind implements routereconciler.Interface.
func (r *Reconciler) ReconcileKind(ctx context.Context, route *v1.Route) reconciler.Event {
	if route.Status.ObservedGeneration != route.Generation {
		route.Status.MarkIngressNotConfigured()
	}
	err := r.refer(ctx, route)
	programErr := r.program(ctx, route) // requests come first: notes for others must not keep them from their way
	if again, _ := controller.IsRequeueKey(programErr); errors.Is(programErr, errStop) || again && err != nil {
		return err
	}
	return errors.Join(err, programErr)
}

// FinalizeKind implements routereconciler.Finalizer: nothing is routed by a Route that goes away.
func (r *Reconciler) FinalizeKind(ctx context.Context, route *v1.Route) reconciler.Event {
	return r.referrers.Clear(ctx, route, referrers.Targets{})
}

// refer notes on Revisions and Configurations that route leads to them. What it leads to no longer is told so only when the
// present generation has come to an end, good or bad: until then requests may still go there.
func (r *Reconciler) refer(ctx context.Context, route *v1.Route) error {
	targets := r.referrers.Of(route)
	if route.IsReady() || route.IsFailed() {
		if err := r.referrers.Clear(ctx, route, targets); err != nil {
			return err
		}
	}
	return r.referrers.Set(ctx, route, targets)
}

// program makes requests go where route says.
func (r *Reconciler) program(ctx context.Context, route *v1.Route) error {
	namer, err := r.name(ctx, route)
	if err != nil {
		return err
	}
	plan, err := r.resolve(route)
	if errors.Is(err, errStop) {
		if failure := r.ahead(ctx, route, namer); failure != nil {
			return failure
		}
		return err
	}
	if err != nil {
		return err
	}
	state, err := r.rollOut(ctx, route, plan)
	if err != nil {
		return err
	}
	names, err := groupNames(route, namer, plan)
	if err != nil {
		return err
	}
	if err := r.placeholders(ctx, route, names); err != nil {
		return err
	}
	markTLS(route, namer)
	ingress, err := r.ingress(ctx, route, plan, names)
	if err != nil {
		return err
	}
	route.Status.Traffic = statusTraffic(plan, names)
	if ingress.Generation == ingress.Status.ObservedGeneration {
		route.Status.PropagateIngressStatus(ingress.Status)
	} else {
		route.Status.MarkIngressNotConfigured()
	}
	return r.markRollout(route, state)
}

// ahead leads requests to the Revision that is to serve first, before it is Ready: they wait for it at the gateways, or are told
// why it cannot start, instead of finding no host. Once a Route has served, what it served stays.
func (r *Reconciler) ahead(ctx context.Context, route *v1.Route, namer hosts.Namer) error {
	if len(route.Status.Traffic) > 0 {
		return nil
	}
	plan, err := traffic.Ahead(route, r.lookup(route))
	if plan == nil || err != nil {
		return err
	}
	names, err := groupNames(route, namer, plan)
	if err != nil {
		return err
	}
	_, err = r.ingress(ctx, route, plan, names)
	return err
}

// lookup reads Configurations and Revisions, and has route reconciled when what it read changes.
func (r *Reconciler) lookup(route *v1.Route) traffic.Lookup {
	return traffic.Lookup{
		Configuration: func(name string) (*v1.Configuration, error) {
			if err := r.follow(route, "Configuration", name); err != nil {
				return nil, err
			}
			return r.configurations.Configurations(route.Namespace).Get(name)
		},
		Revision: func(name string) (*v1.Revision, error) {
			if err := r.follow(route, "Revision", name); err != nil {
				return nil, err
			}
			return r.revisions.Revisions(route.Namespace).Get(name)
		},
	}
}

// resolve finds out what the traffic means, and follows everything that this depends on.
func (r *Reconciler) resolve(route *v1.Route) (*traffic.Plan, error) {
	plan, err := traffic.Resolve(route, r.lookup(route))
	var problem *traffic.Problem
	switch {
	case errors.As(err, &problem):
		problem.Mark(&route.Status)
		return nil, errStop
	case err != nil:
		route.Status.MarkUnknownTrafficError(err.Error())
		return nil, err
	}
	route.Status.MarkTrafficAssigned()
	return plan, nil
}

// follow has route reconciled whenever the named object changes.
func (r *Reconciler) follow(route *v1.Route, kind, name string) error {
	return r.tracker.TrackReference(tracker.Reference{
		APIVersion: v1.SchemeGroupVersion.String(), Kind: kind, Namespace: route.Namespace, Name: name,
	}, route)
}

// markTLS says that no certificate is needed. External and cluster-local TLS come with the kind Certificate.
func markTLS(route *v1.Route, namer hosts.Namer) {
	message := v1.ExternalDomainTLSNotEnabledMessage
	if namer.IsLocal() {
		message = v1.TLSNotEnabledForClusterLocalMessage
	}
	route.Status.MarkTLSNotEnabled(message)
}

// networkOf is the part of the operator's settings that Routes go by.
func networkOf(ctx context.Context) *config.Network { return config.FromContext(ctx).Network }
