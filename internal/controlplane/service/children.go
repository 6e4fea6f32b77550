// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package service

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrs "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "weir.dev/api/serving/v1"
	"weir.dev/internal/controlplane/service/follow"
	"weir.dev/pkg/controller"
)

// configuration gets, creates or corrects the Configuration of svc. It returns, too, when to look again; 0 is never.
func (r *Reconciler) configuration(ctx context.Context, svc *v1.Service) (*v1.Configuration, time.Duration, error) {
	existing, err := r.ownConfiguration(ctx, svc)
	if err != nil {
		return nil, 0, err
	}
	stamps := r.stamps(ctx, svc, existing)
	config, err := r.writeConfiguration(ctx, svc, existing, stamps.Annotations)
	return config, stamps.Again, err
}

// ownConfiguration returns the Configuration of svc, nil if there is none, or an error if it is somebody else's.
func (r *Reconciler) ownConfiguration(ctx context.Context, svc *v1.Service) (*v1.Configuration, error) {
	existing, err := r.configurations.Configurations(svc.Namespace).Get(svc.Name)
	switch {
	case apierrs.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("getting Configuration %q: %w", svc.Name, err)
	case !metav1.IsControlledBy(existing, svc):
		if err := controller.AwaitCollection(existing, svc); err != nil {
			return nil, err
		}
		svc.Status.MarkConfigurationNotOwned(svc.Name)
		return nil, fmt.Errorf("Service %q does not own Configuration %q", svc.Name, svc.Name) //nolint:staticcheck // kinds are proper names
	}
	return existing, nil
}

// stamps are what the template of the Configuration has beside what svc says.
func (r *Reconciler) stamps(ctx context.Context, svc *v1.Service, existing *v1.Configuration) follow.Stamps {
	var latest *v1.Revision
	if existing != nil && caughtUp(existing.Generation, existing.Status.ObservedGeneration) {
		// Without the Revision there is nothing to compare with.
		latest, _ = r.revisions.Revisions(svc.Namespace).Get(existing.Status.LatestCreatedRevisionName)
	}
	stamps := r.follow.Stamps(ctx, svc, existing, latest)
	for _, problem := range stamps.Problems {
		controller.GetEventRecorder(ctx).Eventf(svc, corev1.EventTypeWarning, "FollowFailed", "Cannot look up %s", problem)
	}
	return stamps
}

// writeConfiguration creates or corrects the Configuration of svc.
func (r *Reconciler) writeConfiguration(ctx context.Context, svc *v1.Service, existing *v1.Configuration,
	stamps map[string]string,
) (*v1.Configuration, error) {
	client := r.client.ServingV1().Configurations(svc.Namespace)
	if existing == nil {
		created, err := client.Create(ctx, makeConfiguration(svc, nil, stamps), metav1.CreateOptions{})
		return created, announce(ctx, svc, "Configuration", err)
	}
	want := makeConfiguration(svc, existing, stamps)
	was := existing.DeepCopy()
	was.SetDefaults(ctx)
	want.SetDefaults(ctx)
	if equality.Semantic.DeepEqual(was.Spec, want.Spec) {
		if sameMeta(existing, want) {
			return existing, nil
		}
		want.Spec = existing.Spec // today's defaults, written along with a label, would make a Revision
	}
	updated, err := client.Update(ctx, want, metav1.UpdateOptions{})
	if err != nil {
		return nil, fmt.Errorf("updating Configuration %q: %w", svc.Name, err)
	}
	return updated, nil
}

// route gets, creates or corrects the Route of svc.
func (r *Reconciler) route(ctx context.Context, svc *v1.Service) (*v1.Route, error) {
	client := r.client.ServingV1().Routes(svc.Namespace)
	existing, err := r.routes.Routes(svc.Namespace).Get(svc.Name)
	switch {
	case apierrs.IsNotFound(err):
		created, err := client.Create(ctx, makeRoute(svc, nil), metav1.CreateOptions{})
		return created, announce(ctx, svc, "Route", err)
	case err != nil:
		return nil, fmt.Errorf("getting Route %q: %w", svc.Name, err)
	case !metav1.IsControlledBy(existing, svc):
		if err := controller.AwaitCollection(existing, svc); err != nil {
			return nil, err
		}
		svc.Status.MarkRouteNotOwned(svc.Name)
		return nil, fmt.Errorf("Service %q does not own Route %q", svc.Name, svc.Name) //nolint:staticcheck // kinds are proper names
	}
	want := makeRoute(svc, existing)
	was := existing.DeepCopy()
	was.SetDefaults(ctx)
	want.SetDefaults(ctx)
	if equality.Semantic.DeepEqual(was.Spec, want.Spec) && sameMeta(existing, want) {
		return existing, nil
	}
	updated, err := client.Update(ctx, want, metav1.UpdateOptions{})
	if err != nil {
		return nil, fmt.Errorf("updating Route %q: %w", svc.Name, err)
	}
	return updated, nil
}

// sameMeta says whether two objects have the same labels and annotations.
func sameMeta(a, b metav1.Object) bool {
	return equality.Semantic.DeepEqual(a.GetLabels(), b.GetLabels()) &&
		equality.Semantic.DeepEqual(a.GetAnnotations(), b.GetAnnotations())
}

// announce records on svc that a child was created, or that it was not, and returns what is to be returned.
func announce(ctx context.Context, svc *v1.Service, kind string, err error) error {
	recorder := controller.GetEventRecorder(ctx)
	switch {
	case err == nil:
		recorder.Eventf(svc, corev1.EventTypeNormal, "Created", "Created %s %q", kind, svc.Name)
		return nil
	case !controller.IsStaleRead(err) && !controller.IsNamespaceTerminating(err):
		recorder.Eventf(svc, corev1.EventTypeWarning, "CreationFailed", "Failed to create %s %q: %v", kind, svc.Name, err)
	}
	return fmt.Errorf("creating %s %q: %w", kind, svc.Name, err)
}
