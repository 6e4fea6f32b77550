// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	autoscalingv1alpha1 "weir.dev/api/autoscaling/v1alpha1"
	"weir.dev/api/networking"
	"weir.dev/api/serving"
	"weir.dev/pkg/apis"
)

func revisionConditions() apis.ConditionSet {
	return apis.NewLivingConditionSet(
		RevisionConditionResourcesAvailable,
		RevisionConditionContainerHealthy,
	).Explained()
}

// GetConditionSet returns the conditions of Revisions.
func (*Revision) GetConditionSet() apis.ConditionSet { return revisionConditions() }

// IsReady says whether the Revision can serve, from zero pods too.
func (r *Revision) IsReady() bool {
	return r.Status.ObservedGeneration == r.Generation &&
		r.Status.GetCondition(RevisionConditionReady).IsTrue()
}

// IsFailed says whether the Revision cannot serve.
func (r *Revision) IsFailed() bool {
	return r.Status.ObservedGeneration == r.Generation &&
		r.Status.GetCondition(RevisionConditionReady).IsFalse()
}

// GetContainerConcurrency returns how many requests a container takes at a
// time; 0 is no limit.
func (rs *RevisionSpec) GetContainerConcurrency() int64 {
	if rs.ContainerConcurrency == nil {
		return 0
	}
	return *rs.ContainerConcurrency
}

// GetContainer returns the container that takes the requests: the only one, or
// the one with a port. Not a copy; an empty container if there is none.
func (rs *RevisionSpec) GetContainer() *corev1.Container {
	if len(rs.Containers) == 1 {
		return &rs.Containers[0]
	}
	for i := range rs.Containers {
		if len(rs.Containers[i].Ports) > 0 {
			return &rs.Containers[i]
		}
	}
	return &corev1.Container{}
}

// GetProtocol returns what the container speaks.
func (r *Revision) GetProtocol() networking.ProtocolType {
	ports := r.Spec.GetContainer().Ports
	if len(ports) > 0 && ports[0].Name == string(networking.ProtocolH2C) {
		return networking.ProtocolH2C
	}
	return networking.ProtocolHTTP1
}

// GetRoutingState returns the state in the Revision's label.
func (r *Revision) GetRoutingState() RoutingState {
	return RoutingState(r.Labels[serving.RoutingStateLabelKey])
}

// SetRoutingState writes the state and when it changed; the same state again
// changes nothing.
func (r *Revision) SetRoutingState(state RoutingState, at time.Time) {
	if r.GetRoutingState() == state {
		return
	}
	if r.Labels == nil {
		r.Labels = map[string]string{}
	}
	if r.Annotations == nil {
		r.Annotations = map[string]string{}
	}
	r.Labels[serving.RoutingStateLabelKey] = string(state)
	r.Annotations[serving.RoutingStateModifiedAnnotationKey] = at.UTC().Format(time.RFC3339)
}

// GetRoutingStateModified returns when the state changed, or the zero time.
func (r *Revision) GetRoutingStateModified() time.Time {
	at, err := time.Parse(time.RFC3339, r.Annotations[serving.RoutingStateModifiedAnnotationKey])
	if err != nil {
		return time.Time{}
	}
	return at
}

// IsReachable says whether a Route leads to the Revision.
func (r *Revision) IsReachable() bool { return r.GetRoutingState() == RoutingStateActive }

// IsUnreachable says whether it is known that no Route does.
func (r *Revision) IsUnreachable() bool { return r.GetRoutingState() == RoutingStateReserve }

// GetProgressDeadline returns how long the Revision may take to come up, if an
// annotation says so.
func (r *Revision) GetProgressDeadline() (time.Duration, bool) {
	d, err := time.ParseDuration(serving.ProgressDeadlineAnnotation().Value(r.Annotations))
	return d, err == nil
}

// ExitCodeReason is the reason of a container that exited.
func ExitCodeReason(exitCode int32) string { return fmt.Sprintf("ExitCode%d", exitCode) }

// RevisionContainerExitingMessage is the message of a container that exited.
func RevisionContainerExitingMessage(message string) string {
	return "Container failed with: " + message
}

// RevisionContainerMissingMessage is the message of an image that cannot be
// found.
func RevisionContainerMissingMessage(image, message string) string {
	return fmt.Sprintf("Unable to fetch image %q: %s", image, message)
}

func (rs *RevisionStatus) manage() apis.ConditionManager { return revisionConditions().Manage(rs) }

// InitializeConditions adds missing conditions as Unknown.
func (rs *RevisionStatus) InitializeConditions() { rs.manage().InitializeConditions() }

// MarkActiveTrue says that pods take requests.
func (rs *RevisionStatus) MarkActiveTrue() { rs.manage().MarkTrue(RevisionConditionActive) }

// MarkActiveFalse says that no pod takes requests.
func (rs *RevisionStatus) MarkActiveFalse(reason, message string) {
	rs.manage().MarkFalse(RevisionConditionActive, reason, "%s", message)
}

// MarkActiveUnknown says that pods are on their way.
func (rs *RevisionStatus) MarkActiveUnknown(reason, message string) {
	rs.manage().MarkUnknown(RevisionConditionActive, reason, "%s", message)
}

// MarkContainerHealthyTrue says that the containers came up.
func (rs *RevisionStatus) MarkContainerHealthyTrue() {
	rs.manage().MarkTrue(RevisionConditionContainerHealthy)
}

// MarkContainerHealthyFalse says that the containers did not come up.
func (rs *RevisionStatus) MarkContainerHealthyFalse(reason, message string) {
	rs.manage().MarkFalse(RevisionConditionContainerHealthy, reason, "%s", message)
}

// MarkContainerHealthyUnknown says that the containers come up.
func (rs *RevisionStatus) MarkContainerHealthyUnknown(reason, message string) {
	rs.manage().MarkUnknown(RevisionConditionContainerHealthy, reason, "%s", message)
}

// MarkResourcesAvailableTrue says that what the Revision needs was there.
func (rs *RevisionStatus) MarkResourcesAvailableTrue() {
	rs.manage().MarkTrue(RevisionConditionResourcesAvailable)
}

// MarkResourcesAvailableFalse says that something is missing.
func (rs *RevisionStatus) MarkResourcesAvailableFalse(reason, message string) {
	rs.manage().MarkFalse(RevisionConditionResourcesAvailable, reason, "%s", message)
}

// MarkResourcesAvailableUnknown says that resources are on their way.
func (rs *RevisionStatus) MarkResourcesAvailableUnknown(reason, message string) {
	rs.manage().MarkUnknown(RevisionConditionResourcesAvailable, reason, "%s", message)
}

// MarkResourceNotOwned says that a child's name is taken.
func (rs *RevisionStatus) MarkResourceNotOwned(kind, name string) {
	rs.MarkResourcesAvailableFalse(ReasonNotOwned, notOwnedMessage(kind, name))
}

// PropagateDeploymentStatus sets ResourcesAvailable from the Deployment: a
// replica failure, else its progress.
func (rs *RevisionStatus) PropagateDeploymentStatus(ds *appsv1.DeploymentStatus) {
	if c := deploymentCondition(ds, appsv1.DeploymentReplicaFailure); c != nil && c.Status == corev1.ConditionTrue {
		rs.MarkResourcesAvailableFalse(c.Reason, c.Message)
		return
	}
	c := deploymentCondition(ds, appsv1.DeploymentProgressing)
	switch {
	case c == nil:
		rs.MarkResourcesAvailableUnknown(ReasonDeploying, "")
	case c.Status == corev1.ConditionTrue:
		rs.MarkResourcesAvailableTrue()
	case c.Status == corev1.ConditionFalse:
		rs.MarkResourcesAvailableFalse(c.Reason, c.Message)
	default:
		rs.MarkResourcesAvailableUnknown(c.Reason, c.Message)
	}
}

func deploymentCondition(ds *appsv1.DeploymentStatus, t appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	for i := range ds.Conditions {
		if ds.Conditions[i].Type == t {
			return &ds.Conditions[i]
		}
	}
	return nil
}

// PropagateAutoscalerStatus sets Active and the replicas from the
// PodAutoscaler, and what follows from the target having come up once, or
// never. It goes after PropagateDeploymentStatus and the look at the pods,
// whose findings it does not overrule.
func (rs *RevisionStatus) PropagateAutoscalerStatus(ps *autoscalingv1alpha1.PodAutoscalerStatus) {
	rs.ActualReplicas = knownScale(ps.ActualScale)
	rs.DesiredReplicas = knownScale(ps.DesiredScale)

	ready := ps.GetCondition(autoscalingv1alpha1.PodAutoscalerConditionReady)
	if ready == nil {
		rs.MarkActiveUnknown(ReasonDeploying, "")
		if !rs.GetCondition(RevisionConditionResourcesAvailable).IsFalse() {
			rs.MarkResourcesAvailableUnknown(ReasonDeploying, "")
		}
		return
	}
	rs.propagateInitialScale(ps, ready)
	mirror(rs.manage(), RevisionConditionActive, ready)
}

func (rs *RevisionStatus) propagateInitialScale(ps *autoscalingv1alpha1.PodAutoscalerStatus, ready *apis.Condition) {
	failed := rs.GetCondition(RevisionConditionResourcesAvailable).IsFalse() ||
		rs.GetCondition(RevisionConditionContainerHealthy).IsFalse()
	initialized := ps.IsScaleTargetInitialized()
	if initialized && !failed {
		rs.MarkResourcesAvailableTrue()
		rs.MarkContainerHealthyTrue()
	}
	if rs.GetCondition(RevisionConditionResourcesAvailable).IsTrue() && (ps.ServiceName == "" || !initialized) {
		rs.MarkResourcesAvailableUnknown(ReasonDeploying, "")
	}
	if ready.IsFalse() && !initialized && ps.ServiceName != "" && !failed {
		rs.MarkResourcesAvailableFalse(ReasonProgressDeadlineExceeded, "Initial scale was never achieved")
	}
}

// knownScale returns a copy of a scale that is not negative, else nil.
func knownScale(scale *int32) *int32 {
	if scale == nil || *scale < 0 {
		return nil
	}
	n := *scale
	return &n
}
