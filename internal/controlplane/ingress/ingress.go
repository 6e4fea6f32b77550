// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"context"
	"fmt"
	"time"

	netv1alpha1 "weir.dev/api/networking/v1alpha1"
	ingressreconciler "weir.dev/client/injection/reconciler/networking/v1alpha1/ingress"
	"weir.dev/internal/controlplane/config"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/reconciler"
)

// ReasonNotServed is the reason of an Ingress that the gateways did not take up in time.
const ReasonNotServed = "GatewaysNotReady"

// Reconciler writes the status of Ingresses.
type Reconciler struct {
	gateways Gateways
	// public and private are the names inside the cluster of where requests come in.
	public, private string
	now             func() time.Time
}

var _ ingressreconciler.Interface = (*Reconciler)(nil)

// ReconcileKind implements ingressreconciler.Interface. A generation that was served once stays ready: a gateway that starts
// later takes requests only when it has caught up.
func (r *Reconciler) ReconcileKind(ctx context.Context, ing *netv1alpha1.Ingress) reconciler.Event {
	if ing.IsReady() || r.gateways.Served(ing.Namespace, ing.Name, ing.UID, ing.Generation) {
		ing.Status.MarkNetworkConfigured()
		ing.Status.MarkLoadBalancerReady(at(r.public), at(r.private))
		return nil
	}
	deadline := config.FromContext(ctx).Deployment.ProgressDeadline
	left := deadline - r.now().Sub(waitingSince(ing, r.now()))
	if left <= 0 {
		ing.Status.MarkLoadBalancerFailed(ReasonNotServed,
			fmt.Sprintf("Not all gateways, or none, took up the Ingress within %s.", deadline))
		return nil
	}
	ing.Status.MarkLoadBalancerNotReady()
	return controller.NewRequeueAfter(left)
}

func at(host string) []netv1alpha1.LoadBalancerIngressStatus {
	return []netv1alpha1.LoadBalancerIngressStatus{{DomainInternal: host}}
}

// waitingSince is when the Ingress began to wait for the gateways: now for a generation that is new.
func waitingSince(ing *netv1alpha1.Ingress, now time.Time) time.Time {
	c := ing.Status.GetCondition(netv1alpha1.IngressConditionLoadBalancerReady)
	switch {
	case ing.Status.ObservedGeneration != ing.Generation || c == nil || c.IsTrue():
		return now
	case c.IsFalse():
		return time.Time{} // waited long enough before
	}
	return c.LastTransitionTime.Inner.Time
}
