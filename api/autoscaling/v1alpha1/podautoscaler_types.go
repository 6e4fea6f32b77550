// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"weir.dev/api/networking"
	"weir.dev/pkg/apis"
	duckv1 "weir.dev/pkg/apis/duck/v1"
)

// PodAutoscaler says what is to be scaled; its class says by whom.
//
// +genclient
// +genreconciler:class=autoscaling.knative.dev/class
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type PodAutoscaler struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	// +optional
	Spec PodAutoscalerSpec `json:"spec,omitempty"`

	// Status is the current state.
	// +optional
	Status PodAutoscalerStatus `json:"status,omitempty"`
}

// PodAutoscalerList is a list of PodAutoscalers.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type PodAutoscalerList struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the PodAutoscalers.
	Items []PodAutoscaler `json:"items"`
}

// ReachabilityType says whether a Route leads to the target.
type ReachabilityType string

const (
	// ReachabilityUnknown is before that is known.
	ReachabilityUnknown ReachabilityType = ""
	// ReachabilityReachable is a target with a Route.
	ReachabilityReachable ReachabilityType = "Reachable"
	// ReachabilityUnreachable is a target without one: no least scale applies.
	ReachabilityUnreachable ReachabilityType = "Unreachable"
)

// PodAutoscalerSpec says what is to be scaled.
type PodAutoscalerSpec struct {
	// ContainerConcurrency is how many requests a pod takes at a time; 0 is no
	// limit.
	// +optional
	ContainerConcurrency int64 `json:"containerConcurrency,omitempty"`

	// ScaleTargetRef is the resource with the scale subresource.
	ScaleTargetRef corev1.ObjectReference `json:"scaleTargetRef"`

	// Reachability says whether a Route leads to the target: empty, Reachable
	// or Unreachable.
	// +optional
	Reachability ReachabilityType `json:"reachability,omitempty"`

	// ProtocolType is what the pods speak: http1 or h2c.
	ProtocolType networking.ProtocolType `json:"protocolType"`
}

// PodAutoscalerStatus is the current state of a PodAutoscaler.
type PodAutoscalerStatus struct {
	duckv1.Status `json:",inline"`

	// ServiceName is the service that leads to the pods.
	ServiceName string `json:"serviceName"`

	// MetricsServiceName is the service that metrics are read from.
	MetricsServiceName string `json:"metricsServiceName"`

	// DesiredScale is how many pods the autoscaler wants.
	// +optional
	DesiredScale *int32 `json:"desiredScale,omitempty"`

	// ActualScale is how many pods are ready.
	// +optional
	ActualScale *int32 `json:"actualScale,omitempty"`
}

const (
	// PodAutoscalerConditionReady is the summary.
	PodAutoscalerConditionReady = apis.ConditionReady
	// PodAutoscalerConditionActive says that pods take requests.
	PodAutoscalerConditionActive apis.ConditionType = "Active"
	// PodAutoscalerConditionScaleTargetInitialized says that the target was
	// once up to its initial scale.
	PodAutoscalerConditionScaleTargetInitialized apis.ConditionType = "ScaleTargetInitialized"
	// PodAutoscalerConditionSKSReady says that requests find the target. The
	// name is upstream's; gateways do the work of its ServerlessService.
	PodAutoscalerConditionSKSReady apis.ConditionType = "SKSReady"
)

// GetGroupVersionKind returns the kind.
func (*PodAutoscaler) GetGroupVersionKind() schema.GroupVersionKind {
	return SchemeGroupVersion.WithKind("PodAutoscaler")
}

// GetStatus returns the common part of the status, not a copy.
func (pa *PodAutoscaler) GetStatus() *duckv1.Status { return &pa.Status.Status }
