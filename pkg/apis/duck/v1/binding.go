// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"weir.dev/pkg/apis/duck/ducktypes"
	"weir.dev/pkg/tracker/reference"
)

// Binding is a resource that changes others, its subjects.
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +genduck
type Binding struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec names the subjects.
	Spec BindingSpec `json:"spec"`
}

// BindingSpec is the part of a spec that bindings have; it is inlined.
type BindingSpec struct {
	// Subject is what is changed.
	Subject reference.Reference `json:"subject"`
}

// BindingList is a list of Binding.
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type BindingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`

	// Items are the resources.
	Items []Binding `json:"items"`
}

var (
	_ ducktypes.Implementable = (*Binding)(nil)
	_ ducktypes.Populatable   = (*Binding)(nil)
)

// GetFullType returns the resource with this shape.
func (*Binding) GetFullType() ducktypes.Populatable { return &Binding{} }

// GetListType returns an empty list.
func (*Binding) GetListType() runtime.Object { return &BindingList{} }

// Populate sets every field of the shape.
func (b *Binding) Populate() {
	b.Spec.Subject = reference.Reference{
		APIVersion: "apps/v1", Kind: "Deployment", Namespace: "default", Name: "sample",
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "sample"}},
	}
}
