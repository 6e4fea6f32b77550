// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrs "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	netv1alpha1 "weir.dev/api/networking/v1alpha1"
	v1 "weir.dev/api/serving/v1"
	"weir.dev/internal/controlplane/route/desired"
	"weir.dev/internal/controlplane/route/hosts"
	"weir.dev/internal/controlplane/route/traffic"
	"weir.dev/pkg/controller"
)

// ingress gets, creates or corrects the Ingress of route, unless an older Route has one of its hosts.
func (r *Reconciler) ingress(ctx context.Context, route *v1.Route, plan *traffic.Plan, names map[string]hosts.Names) (*netv1alpha1.Ingress, error) {
	name := desired.IngressName(route)
	existing, err := r.ingresses.Ingresses(route.Namespace).Get(name)
	switch {
	case apierrs.IsNotFound(err):
		existing = nil
	case err != nil:
		return nil, fmt.Errorf("getting Ingress %q: %w", name, err)
	case !metav1.IsControlledBy(existing, route):
		if err := controller.AwaitCollection(existing, route); err != nil {
			return nil, err
		}
		route.Status.MarkIngressNotOwned(name)
		return nil, fmt.Errorf("Route %q does not own Ingress %q", route.Name, name) //nolint:staticcheck // kinds are proper names
	}
	want, err := desired.Ingress(route, networkOf(ctx), plan, names, existing)
	if err != nil {
		route.Status.MarkErrorConfig(err.Error())
		return nil, errStop
	}
	if err := r.yield(route, want, existing); err != nil {
		return nil, err
	}
	if existing == nil {
		return r.createIngress(ctx, route, want)
	}
	return r.updateIngress(ctx, want, existing)
}

func (r *Reconciler) createIngress(ctx context.Context, route *v1.Route, want *netv1alpha1.Ingress) (*netv1alpha1.Ingress, error) {
	recorder := controller.GetEventRecorder(ctx)
	created, err := r.client.NetworkingV1alpha1().Ingresses(want.Namespace).Create(ctx, want, metav1.CreateOptions{})
	if err != nil {
		recorder.Eventf(route, corev1.EventTypeWarning, "CreationFailed", "Failed to create Ingress: %v", err)
		return nil, fmt.Errorf("creating Ingress %q: %w", want.Name, err)
	}
	recorder.Eventf(route, corev1.EventTypeNormal, "Created", "Created Ingress %q", created.Name)
	return created, nil
}

func (r *Reconciler) updateIngress(ctx context.Context, want, existing *netv1alpha1.Ingress) (*netv1alpha1.Ingress, error) {
	was := existing.DeepCopy()
	was.SetDefaults(ctx)
	want.SetDefaults(ctx)
	if equality.Semantic.DeepEqual(was.Spec, want.Spec) &&
		equality.Semantic.DeepEqual(was.Labels, want.Labels) &&
		equality.Semantic.DeepEqual(was.Annotations, want.Annotations) {
		return existing, nil
	}
	updated, err := r.client.NetworkingV1alpha1().Ingresses(want.Namespace).Update(ctx, want, metav1.UpdateOptions{})
	if err != nil {
		return nil, fmt.Errorf("updating Ingress %q: %w", want.Name, err)
	}
	return updated, nil
}
