// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"weir.dev/pkg/apis"
	duckv1 "weir.dev/pkg/apis/duck/v1"
)

// Route leads the requests of a host to Revisions, in shares.
//
// +genclient
// +genreconciler
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Route struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	// +optional
	Spec RouteSpec `json:"spec,omitempty"`

	// Status is the current state.
	// +optional
	Status RouteStatus `json:"status,omitempty"`
}

// RouteList is a list of Routes.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type RouteList struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the Routes.
	Items []Route `json:"items"`
}

// RouteSpec says where requests go.
type RouteSpec struct {
	// Traffic lists the targets with their shares.
	// +optional
	Traffic []TrafficTarget `json:"traffic,omitempty"`
}

// TrafficTarget is a Revision, or the latest ready one of a Configuration, with
// its share of the requests.
type TrafficTarget struct {
	// Tag gives the target a host of its own.
	// +optional
	Tag string `json:"tag,omitempty"`

	// RevisionName is the Revision that requests go to.
	// +optional
	RevisionName string `json:"revisionName,omitempty"`

	// ConfigurationName is the Configuration whose latest ready Revision
	// requests go to.
	// +optional
	ConfigurationName string `json:"configurationName,omitempty"`

	// LatestRevision says that the target moves with the latest ready Revision.
	// +optional
	LatestRevision *bool `json:"latestRevision,omitempty"`

	// Percent of the requests that go there.
	// +optional
	Percent *int64 `json:"percent,omitempty"`

	// URL of a tagged target; set by the controller.
	// +optional
	URL *apis.URL `json:"url,omitempty"`
}

// RouteStatusFields are the fields that Services have too.
type RouteStatusFields struct {
	// URL that leads to the targets.
	// +optional
	URL *apis.URL `json:"url,omitempty"`

	// Address inside the cluster.
	// +optional
	Address *duckv1.Addressable `json:"address,omitempty"`

	// Traffic as it is programmed.
	// +optional
	Traffic []TrafficTarget `json:"traffic,omitempty"`
}

// RouteStatus is the current state of a Route.
type RouteStatus struct {
	duckv1.Status `json:",inline"`

	RouteStatusFields `json:",inline"`
}

const (
	// RouteConditionReady is the summary.
	RouteConditionReady = apis.ConditionReady
	// RouteConditionAllTrafficAssigned says that all targets are there and
	// ready.
	RouteConditionAllTrafficAssigned apis.ConditionType = "AllTrafficAssigned"
	// RouteConditionIngressReady is the Ingress's Ready.
	RouteConditionIngressReady apis.ConditionType = "IngressReady"
	// RouteConditionCertificateProvisioned says that the hosts have
	// certificates, or need none.
	RouteConditionCertificateProvisioned apis.ConditionType = "CertificateProvisioned"
)

// GetGroupVersionKind returns the kind.
func (*Route) GetGroupVersionKind() schema.GroupVersionKind {
	return SchemeGroupVersion.WithKind("Route")
}

// GetUntypedSpec returns the spec.
func (r *Route) GetUntypedSpec() interface{} { return r.Spec }

// GetStatus returns the common part of the status, not a copy.
func (r *Route) GetStatus() *duckv1.Status { return &r.Status.Status }
