// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"k8s.io/apimachinery/pkg/runtime"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"weir.dev/pkg/apis"
	"weir.dev/pkg/apis/duck/ducktypes"
)

// Addressable says where a resource takes requests or events.
// +genduck
type Addressable struct {
	// Name of the address.
	// +optional
	Name *string `json:"name,omitempty"`

	// URL of the address.
	// +optional
	URL *apis.URL `json:"url,omitempty"`

	// CACerts are the certification authorities, PEM, to verify the address with.
	// +optional
	CACerts *string `json:"CACerts,omitempty"`

	// Audience is the OIDC audience of the address.
	// +optional
	Audience *string `json:"audience,omitempty"`
}

// AddressStatus is the part of a status that holds addresses.
type AddressStatus struct {
	// Address is the address to use.
	// +optional
	Address *Addressable `json:"address,omitempty"`

	// Addresses are all addresses.
	// +optional
	Addresses []Addressable `json:"addresses,omitempty"`
}

// AddressableType is a resource that has nothing but an address.
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type AddressableType struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Status holds the address.
	Status AddressStatus `json:"status"`
}

// AddressableTypeList is a list of AddressableType.
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type AddressableTypeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`

	// Items are the resources.
	Items []AddressableType `json:"items"`
}

// GetFullType returns the resource with this shape.
func (*Addressable) GetFullType() ducktypes.Populatable { return &AddressableType{} }

// GetListType returns an empty list.
func (*AddressableType) GetListType() runtime.Object { return &AddressableTypeList{} }

// Populate sets every field of the shape.
func (t *AddressableType) Populate() {
	name, ca, audience := "http", "-----BEGIN CERTIFICATE-----", "sample"
	t.Status = AddressStatus{Address: &Addressable{
		Name: &name, URL: apis.HTTP("foo.com"), CACerts: &ca, Audience: &audience,
	}}
}
