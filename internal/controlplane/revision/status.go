// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrs "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	autoscalingv1alpha1 "weir.dev/api/autoscaling/v1alpha1"
	v1 "weir.dev/api/serving/v1"
	"weir.dev/internal/controlplane/config"
	"weir.dev/internal/controlplane/revision/health"
	"weir.dev/internal/controlplane/revision/workload"
	"weir.dev/pkg/apis"
)

// observation is what a Revision's children look like.
type observation struct {
	deployment *appsv1.Deployment
	pods       []*corev1.Pod
	// podAutoscaler is nil until there is one.
	podAutoscaler *autoscalingv1alpha1.PodAutoscaler
	verdict       health.Verdict
	deadline      time.Duration
	now           time.Time
}

// observe reads the caches.
func (r *Reconciler) observe(ctx context.Context, rev *v1.Revision, deployment *appsv1.Deployment) (observation, error) {
	cfg := config.FromContext(ctx).Deployment
	seen := observation{deployment: deployment, deadline: workload.ProgressDeadline(rev, cfg), now: r.now()}
	var err error
	seen.pods, err = r.pods.Pods(rev.Namespace).List(labels.SelectorFromSet(workload.PodSelector(rev)))
	if err != nil {
		return seen, fmt.Errorf("listing pods of Revision %q: %w", rev.Name, err)
	}
	seen.podAutoscaler, err = r.autoscalers.PodAutoscalers(rev.Namespace).Get(workload.PodAutoscalerName(rev))
	if apierrs.IsNotFound(err) {
		seen.podAutoscaler, err = nil, nil
	}
	if err != nil {
		return seen, fmt.Errorf("getting PodAutoscaler of Revision %q: %w", rev.Name, err)
	}
	seen.verdict = health.Judge(health.Snapshot{
		Deployment:        deployment,
		Pods:              seen.pods,
		AlwaysSchedulable: cfg.PodIsAlwaysSchedulable,
		Deadline:          seen.deadline,
		Overdue:           !seen.initialized() && seen.left() <= 0,
		Now:               seen.now,
	})
	return seen, nil
}

// initialized says whether the Revision was up to its initial scale once.
func (o observation) initialized() bool {
	return o.podAutoscaler != nil && o.podAutoscaler.Status.IsScaleTargetInitialized()
}

// left is the time left to the Revision's first start.
func (o observation) left() time.Duration {
	created := o.deployment.CreationTimestamp
	if created.IsZero() {
		return o.deadline
	}
	return o.deadline - o.now.Sub(created.Time)
}

// reflectInstances writes what Deployment and pods say. While something serves, the Revision is well, whatever else goes
// wrong beside it. A Revision that failed to wake up stays failed until it serves again, or else it would look well as soon
// as it is given up.
func reflectInstances(status *v1.RevisionStatus, seen observation) {
	before := status.GetCondition(v1.RevisionConditionResourcesAvailable)
	v := seen.verdict
	if v.Serving && seen.initialized() {
		status.MarkResourcesAvailableTrue()
	} else {
		status.PropagateDeploymentStatus(&seen.deployment.Status)
	}
	switch {
	case v.Serving:
		status.MarkContainerHealthyTrue()
	case v.Finding != nil:
		markFinding(status, v.Finding)
	case stays(before, seen) && !status.GetCondition(v1.RevisionConditionResourcesAvailable).IsFalse():
		status.MarkResourcesAvailableFalse(before.Reason, before.Message)
	}
}

// stays says whether a failure from before still counts although nothing says so at the moment.
func stays(before *apis.Condition, seen observation) bool {
	return before.IsFalse() && before.Reason != v1.ReasonNotOwned && (seen.initialized() || !seen.verdict.Wanted)
}

func markFinding(status *v1.RevisionStatus, f *health.Finding) {
	switch {
	case f.Container && f.Waiting:
		status.MarkContainerHealthyUnknown(f.Reason, f.Message)
	case f.Container:
		status.MarkContainerHealthyFalse(f.Reason, f.Message)
	case f.Waiting:
		status.MarkResourcesAvailableUnknown(f.Reason, f.Message)
	default:
		status.MarkResourcesAvailableFalse(f.Reason, f.Message)
	}
}

// failing says whether instances are wanted and cannot start.
func (o observation) failing(status *v1.RevisionStatus) bool {
	return o.verdict.Wanted && !o.verdict.Serving &&
		(status.GetCondition(v1.RevisionConditionResourcesAvailable).IsFalse() ||
			status.GetCondition(v1.RevisionConditionContainerHealthy).IsFalse())
}

// endUnknown ends a first start that took too long for no visible cause. It returns the time until something may change
// although no object does.
func (o observation) endUnknown(status *v1.RevisionStatus) time.Duration {
	recheck := o.verdict.Recheck
	if !status.GetCondition(v1.RevisionConditionReady).IsUnknown() || o.deployment.CreationTimestamp.IsZero() {
		return recheck
	}
	left := o.left()
	if left <= 0 {
		status.MarkResourcesAvailableFalse(v1.ReasonProgressDeadlineExceeded,
			fmt.Sprintf("Initial scale was not achieved within %s", o.deadline))
		return recheck
	}
	if recheck == 0 || left < recheck {
		return left
	}
	return recheck
}

// imageID is what a node says that the named container runs.
func (o observation) imageID(container string) string {
	for _, pod := range o.pods {
		for i := range pod.Status.ContainerStatuses {
			if s := &pod.Status.ContainerStatuses[i]; s.Name == container && s.ImageID != "" {
				return s.ImageID
			}
		}
	}
	return ""
}

// deployedImage is what new instances of the named container are started with.
func (o observation) deployedImage(container string) string {
	containers := o.deployment.Spec.Template.Spec.Containers
	for i := range containers {
		if containers[i].Name == container {
			return containers[i].Image
		}
	}
	return ""
}
