// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"weir.dev/pkg/apis"
	duckv1 "weir.dev/pkg/apis/duck/v1"
)

// Revision is an immutable snapshot of code and configuration that scales by
// its requests. Configurations make them.
//
// +genclient
// +genreconciler
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Revision struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state; it never changes.
	// +optional
	Spec RevisionSpec `json:"spec,omitempty"`

	// Status is the current state.
	// +optional
	Status RevisionStatus `json:"status,omitempty"`
}

// RevisionList is a list of Revisions.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type RevisionList struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the Revisions.
	Items []Revision `json:"items"`
}

// RevisionTemplateSpec is what a Revision is made from.
type RevisionTemplateSpec struct {
	// Metadata of the Revision: name, labels, annotations.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec of the Revision.
	// +optional
	Spec RevisionSpec `json:"spec,omitempty"`
}

// RevisionSpec is a pod (a subset of what a pod can be) and how requests are
// given to it.
type RevisionSpec struct {
	corev1.PodSpec `json:",inline"`

	// ContainerConcurrency is how many requests a container takes at a time; 0
	// is no limit.
	// +optional
	ContainerConcurrency *int64 `json:"containerConcurrency,omitempty"`

	// TimeoutSeconds is how long a request may take until its response starts,
	// and in between its parts.
	// +optional
	TimeoutSeconds *int64 `json:"timeoutSeconds,omitempty"`

	// ResponseStartTimeoutSeconds is how long a request may take until its
	// response starts.
	// +optional
	ResponseStartTimeoutSeconds *int64 `json:"responseStartTimeoutSeconds,omitempty"`

	// IdleTimeoutSeconds is how long a request or response may pause.
	// +optional
	IdleTimeoutSeconds *int64 `json:"idleTimeoutSeconds,omitempty"`
}

// ContainerStatus is what a container's image was found to be.
type ContainerStatus struct {
	// Name of the container.
	// +optional
	Name string `json:"name,omitempty"`

	// ImageDigest is the image by digest.
	// +optional
	ImageDigest string `json:"imageDigest,omitempty"`
}

// RevisionStatus is the current state of a Revision.
type RevisionStatus struct {
	duckv1.Status `json:",inline"`

	// LogURL is where the logs are.
	// +optional
	LogURL string `json:"logUrl,omitempty"`

	// ContainerStatuses are the images of the containers, in their order.
	// +optional
	ContainerStatuses []ContainerStatus `json:"containerStatuses,omitempty"`

	// InitContainerStatuses are the images of the init containers.
	// +optional
	InitContainerStatuses []ContainerStatus `json:"initContainerStatuses,omitempty"`

	// ActualReplicas is how many pods are ready.
	// +optional
	ActualReplicas *int32 `json:"actualReplicas,omitempty"`

	// DesiredReplicas is how many pods the autoscaler wants.
	// +optional
	DesiredReplicas *int32 `json:"desiredReplicas,omitempty"`
}

const (
	// RevisionConditionReady is the summary.
	RevisionConditionReady = apis.ConditionReady
	// RevisionConditionResourcesAvailable says that what the Revision needs
	// was there.
	RevisionConditionResourcesAvailable apis.ConditionType = "ResourcesAvailable"
	// RevisionConditionContainerHealthy says that the containers came up.
	RevisionConditionContainerHealthy apis.ConditionType = "ContainerHealthy"
	// RevisionConditionActive says that pods take requests; it is for
	// information only.
	RevisionConditionActive apis.ConditionType = "Active"
)

// RoutingState says whether a Route leads to a Revision.
type RoutingState string

const (
	// RoutingStateUnset is before that is known.
	RoutingStateUnset RoutingState = ""
	// RoutingStatePending is a Revision that no Route has taken up yet.
	RoutingStatePending RoutingState = "pending"
	// RoutingStateActive is a Revision that a Route leads to.
	RoutingStateActive RoutingState = "active"
	// RoutingStateReserve is a Revision that no Route leads to any more.
	RoutingStateReserve RoutingState = "reserve"
)

// GetGroupVersionKind returns the kind.
func (*Revision) GetGroupVersionKind() schema.GroupVersionKind {
	return SchemeGroupVersion.WithKind("Revision")
}

// GetStatus returns the common part of the status, not a copy.
func (r *Revision) GetStatus() *duckv1.Status { return &r.Status.Status }
