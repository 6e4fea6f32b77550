// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"weir.dev/pkg/apis"
	duckv1 "weir.dev/pkg/apis/duck/v1"
)

// Service is an application: it makes a Configuration and a Route of the same
// name and keeps them as it says.
//
// +genclient
// +genreconciler
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Service struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	// +optional
	Spec ServiceSpec `json:"spec,omitempty"`

	// Status is the current state.
	// +optional
	Status ServiceStatus `json:"status,omitempty"`
}

// ServiceList is a list of Services.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type ServiceList struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the Services.
	Items []Service `json:"items"`
}

// ServiceSpec is what the Configuration and the Route are made of.
type ServiceSpec struct {
	// ConfigurationSpec is the template of revisions.
	ConfigurationSpec `json:",inline"`

	// RouteSpec is the traffic; all of it to the latest ready Revision by
	// default.
	RouteSpec `json:",inline"`
}

// ServiceStatus is the state of the Configuration and of the Route.
type ServiceStatus struct {
	duckv1.Status `json:",inline"`

	// ConfigurationStatusFields are copied from the Configuration.
	ConfigurationStatusFields `json:",inline"`

	// RouteStatusFields are copied from the Route.
	RouteStatusFields `json:",inline"`
}

const (
	// ServiceConditionReady is the summary.
	ServiceConditionReady = apis.ConditionReady
	// ServiceConditionRoutesReady is the Route's Ready.
	ServiceConditionRoutesReady apis.ConditionType = "RoutesReady"
	// ServiceConditionConfigurationsReady is the Configuration's Ready.
	ServiceConditionConfigurationsReady apis.ConditionType = "ConfigurationsReady"
)

// GetGroupVersionKind returns the kind.
func (*Service) GetGroupVersionKind() schema.GroupVersionKind {
	return SchemeGroupVersion.WithKind("Service")
}

// GetUntypedSpec returns the spec.
func (s *Service) GetUntypedSpec() interface{} { return s.Spec }

// GetStatus returns the common part of the status, not a copy.
func (s *Service) GetStatus() *duckv1.Status { return &s.Status.Status }
