// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"weir.dev/pkg/apis"
	duckv1 "weir.dev/pkg/apis/duck/v1"
)

// Configuration is the desired state of an application; each change of its
// template makes a Revision.
//
// +genclient
// +genreconciler
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Configuration struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	// +optional
	Spec ConfigurationSpec `json:"spec,omitempty"`

	// Status is the current state.
	// +optional
	Status ConfigurationStatus `json:"status,omitempty"`
}

// ConfigurationList is a list of Configurations.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type ConfigurationList struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the Configurations.
	Items []Configuration `json:"items"`
}

// ConfigurationSpec holds the template of revisions.
type ConfigurationSpec struct {
	// Template of the next Revision.
	// +optional
	Template RevisionTemplateSpec `json:"template"`
}

// ConfigurationStatusFields are the fields that Services have too.
type ConfigurationStatusFields struct {
	// LatestReadyRevisionName is the newest Revision that became ready.
	// +optional
	LatestReadyRevisionName string `json:"latestReadyRevisionName,omitempty"`

	// LatestCreatedRevisionName is the newest Revision made from the template.
	// +optional
	LatestCreatedRevisionName string `json:"latestCreatedRevisionName,omitempty"`
}

// ConfigurationStatus is the current state of a Configuration.
type ConfigurationStatus struct {
	duckv1.Status `json:",inline"`

	ConfigurationStatusFields `json:",inline"`
}

// ConfigurationConditionReady is the summary: the latest created Revision is
// ready.
const ConfigurationConditionReady = apis.ConditionReady

// GetGroupVersionKind returns the kind.
func (*Configuration) GetGroupVersionKind() schema.GroupVersionKind {
	return SchemeGroupVersion.WithKind("Configuration")
}

// GetUntypedSpec returns the spec.
func (c *Configuration) GetUntypedSpec() interface{} { return c.Spec }

// GetStatus returns the common part of the status, not a copy.
func (c *Configuration) GetStatus() *duckv1.Status { return &c.Status.Status }

// GetTemplate returns the template, not a copy.
func (cs *ConfigurationSpec) GetTemplate() *RevisionTemplateSpec { return &cs.Template }
