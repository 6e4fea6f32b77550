// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"weir.dev/pkg/apis"
	duckv1 "weir.dev/pkg/apis/duck/v1"
	"weir.dev/pkg/kmeta"
	"weir.dev/pkg/webhook/resourcesemantics"
)

// +genclient
// +genreconciler
// +genreconciler:stubs
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// AddressableService gives a Kubernetes Service an address that others can
// refer to.
type AddressableService struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what is wanted.
	Spec AddressableServiceSpec `json:"spec,omitempty"`
	// Status is what there is.
	Status AddressableServiceStatus `json:"status,omitempty"`
}

// AddressableServiceSpec names the Service.
type AddressableServiceSpec struct {
	// ServiceName is the name of a Service in the same namespace.
	ServiceName string `json:"serviceName"`
	// Scheme of the address, http or https; http by default.
	Scheme string `json:"scheme,omitempty"`
}

// AddressableServiceStatus is conditions and the address.
type AddressableServiceStatus struct {
	duckv1.Status        `json:",inline"`
	duckv1.AddressStatus `json:",inline"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// AddressableServiceList is a list of AddressableServices.
type AddressableServiceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`

	// Items are the AddressableServices.
	Items []AddressableService `json:"items"`
}

var (
	_ apis.Defaultable             = (*AddressableService)(nil)
	_ apis.Validatable             = (*AddressableService)(nil)
	_ apis.HasSpec                 = (*AddressableService)(nil)
	_ duckv1.KRShaped              = (*AddressableService)(nil)
	_ kmeta.OwnerRefable           = (*AddressableService)(nil)
	_ resourcesemantics.GenericCRD = (*AddressableService)(nil)
	_ runtime.Object               = (*AddressableServiceList)(nil)
)

// GetGroupVersionKind implements kmeta.OwnerRefable.
func (*AddressableService) GetGroupVersionKind() schema.GroupVersionKind {
	return SchemeGroupVersion.WithKind("AddressableService")
}

// GetUntypedSpec implements apis.HasSpec.
func (a *AddressableService) GetUntypedSpec() any { return a.Spec }

// GetStatus implements duckv1.KRShaped.
func (a *AddressableService) GetStatus() *duckv1.Status { return &a.Status.Status }
