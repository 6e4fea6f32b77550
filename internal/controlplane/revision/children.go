// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrs "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	autoscalingv1alpha1 "weir.dev/api/autoscaling/v1alpha1"
	v1 "weir.dev/api/serving/v1"
	"weir.dev/internal/controlplane/revision/workload"
	"weir.dev/pkg/controller"
)

// reasonFailedCreate is the reason of a child that the API refuses.
const reasonFailedCreate = "FailedCreate"

// deployment gets, creates or corrects the Deployment of rev.
func (r *Reconciler) deployment(ctx context.Context, rev *v1.Revision) (*appsv1.Deployment, error) {
	name, client := workload.DeploymentName(rev), r.kube.AppsV1().Deployments(rev.Namespace)
	existing, err := r.deployments.Deployments(rev.Namespace).Get(name)
	switch {
	case apierrs.IsNotFound(err):
		rev.Status.MarkResourcesAvailableUnknown(v1.ReasonDeploying, "")
		rev.Status.MarkContainerHealthyUnknown(v1.ReasonDeploying, "")
		created, err := client.Create(ctx, workload.Deployment(rev, r.settings(ctx), nil), metav1.CreateOptions{})
		return created, refused(rev, "Deployment", name, err)
	case err != nil:
		return nil, fmt.Errorf("getting Deployment %q: %w", name, err)
	case !metav1.IsControlledBy(existing, rev):
		if err := controller.AwaitCollection(existing, rev); err != nil {
			return nil, err
		}
		rev.Status.MarkResourceNotOwned("Deployment", name)
		return nil, fmt.Errorf("Revision %q does not own Deployment %q", rev.Name, name) //nolint:staticcheck // kinds are proper names
	}
	want := workload.Deployment(rev, r.settings(ctx), existing)
	if workload.UpToDate(want, existing) {
		return existing, nil
	}
	updated, err := client.Update(ctx, want, metav1.UpdateOptions{})
	return updated, refused(rev, "Deployment", name, err)
}

// podAutoscaler gets, creates or corrects the PodAutoscaler of rev.
func (r *Reconciler) podAutoscaler(ctx context.Context, rev *v1.Revision, seen observation) (*autoscalingv1alpha1.PodAutoscaler, error) {
	name, client := workload.PodAutoscalerName(rev), r.client.AutoscalingV1alpha1().PodAutoscalers(rev.Namespace)
	existing := seen.podAutoscaler
	if existing == nil {
		created, err := client.Create(ctx, workload.PodAutoscaler(rev, workload.Outlook{}, nil), metav1.CreateOptions{})
		return created, refused(rev, "PodAutoscaler", name, err)
	}
	if !metav1.IsControlledBy(existing, rev) {
		if err := controller.AwaitCollection(existing, rev); err != nil {
			return nil, err
		}
		rev.Status.MarkResourceNotOwned("PodAutoscaler", name)
		return nil, fmt.Errorf("Revision %q does not own PodAutoscaler %q", rev.Name, name) //nolint:staticcheck // kinds are proper names
	}
	abandoned, err := r.abandoned(rev, seen)
	if err != nil {
		return nil, err
	}
	want := workload.PodAutoscaler(rev, workload.Outlook{Failing: seen.failing(&rev.Status), Abandoned: abandoned}, existing)
	if equality.Semantic.DeepEqual(want.Spec, existing.Spec) &&
		equality.Semantic.DeepEqual(want.Labels, existing.Labels) &&
		equality.Semantic.DeepEqual(want.Annotations, existing.Annotations) {
		return existing, nil
	}
	updated, err := client.Update(ctx, want, metav1.UpdateOptions{})
	return updated, refused(rev, "PodAutoscaler", name, err)
}

// refused wraps an error of writing a child. Where trying the same again is in vain, the status says so at once.
func refused(rev *v1.Revision, kind, name string, err error) error {
	if err == nil {
		return nil
	}
	final := apierrs.IsInvalid(err) || apierrs.IsForbidden(err) || apierrs.IsBadRequest(err)
	if final && !controller.IsNamespaceTerminating(err) {
		rev.Status.MarkResourcesAvailableFalse(reasonFailedCreate, err.Error())
	}
	return fmt.Errorf("writing %s %q: %w", kind, name, err)
}
