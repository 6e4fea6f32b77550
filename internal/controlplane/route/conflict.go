// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	netv1alpha1 "weir.dev/api/networking/v1alpha1"
	"weir.dev/api/serving"
	v1 "weir.dev/api/serving/v1"
	"weir.dev/internal/controlplane/route/hosts"
	"weir.dev/pkg/tracker"
)

// yield stops where a host of want is an older Ingress's: hosts are unique, the oldest claim counts (design.md). What is
// programmed already stays, and route is reconciled again when the other one changes or goes.
func (r *Reconciler) yield(route *v1.Route, want, existing *netv1alpha1.Ingress) error {
	for i := range want.Spec.Rules {
		for _, host := range want.Spec.Rules[i].Hosts {
			others, err := r.claimants(host)
			if err != nil {
				return fmt.Errorf("finding who claims host %q: %w", host, err)
			}
			for _, other := range others {
				if !goesBefore(other, want, existing) {
					continue
				}
				route.Status.MarkHostConflict(host, ownerOf(other))
				if err := r.followIngress(route, other); err != nil {
					return err
				}
				return errStop
			}
		}
	}
	return nil
}

// goesBefore says whether other's claims go before ours.
func goesBefore(other, want, existing *netv1alpha1.Ingress) bool {
	switch {
	case other.Namespace == want.Namespace && other.Name == want.Name:
		return false
	case existing == nil:
		return true
	}
	return cmp.Or(
		other.CreationTimestamp.Compare(existing.CreationTimestamp.Time),
		cmp.Compare(other.Namespace, existing.Namespace),
		cmp.Compare(other.Name, existing.Name),
	) < 0
}

// ownerOf names the Route that an Ingress was made for, or the Ingress.
func ownerOf(ing *netv1alpha1.Ingress) string {
	return ing.Namespace + "/" + cmp.Or(ing.Labels[serving.RouteLabelKey], ing.Name)
}

// taken says that the name of a group is svc's, which is not ours: another Route's, which has the host then, or somebody
// else's. Either way route is reconciled again when svc changes or goes.
func (r *Reconciler) taken(route *v1.Route, n hosts.Names, svc *corev1.Service) error {
	err := r.tracker.TrackReference(tracker.Reference{
		APIVersion: "v1", Kind: "Service", Namespace: svc.Namespace, Name: svc.Name,
	}, route)
	if err != nil {
		return err
	}
	if owner := metav1.GetControllerOf(svc); owner != nil && owner.Kind == "Route" {
		host := cmp.Or(n.External, n.Local[len(n.Local)-1])
		route.Status.MarkHostConflict(host, svc.Namespace+"/"+owner.Name)
		return errStop
	}
	route.Status.MarkServiceNotOwned(n.Service)
	return fmt.Errorf("Route %q does not own Service %q", route.Name, n.Service) //nolint:staticcheck // kinds are proper names
}

func (r *Reconciler) followIngress(route *v1.Route, ing *netv1alpha1.Ingress) error {
	return r.tracker.TrackReference(tracker.Reference{
		APIVersion: netv1alpha1.SchemeGroupVersion.String(), Kind: "Ingress", Namespace: ing.Namespace, Name: ing.Name,
	}, route)
}

// hostsOf indexes Ingresses by their hosts.
func hostsOf(obj any) ([]string, error) {
	ing, ok := obj.(*netv1alpha1.Ingress)
	if !ok {
		return nil, nil
	}
	var hosts []string
	for i := range ing.Spec.Rules {
		hosts = append(hosts, ing.Spec.Rules[i].Hosts...)
	}
	return hosts, nil
}
