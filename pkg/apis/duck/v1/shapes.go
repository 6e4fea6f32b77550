// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"weir.dev/pkg/apis"
	"weir.dev/pkg/apis/duck/ducktypes"
)

// KRShaped is a resource with the common status: what the generic reconciler
// needs to keep observed generation and conditions.
type KRShaped interface {
	metav1.Object
	schema.ObjectKind

	// GetStatus returns the common part of the status, not a copy.
	GetStatus() *Status
	// GetConditionSet returns the conditions that the kind has.
	GetConditionSet() apis.ConditionSet
}

var (
	_ apis.Listable           = (*KResource)(nil)
	_ apis.Listable           = (*AddressableType)(nil)
	_ ducktypes.Populatable   = (*KResource)(nil)
	_ ducktypes.Populatable   = (*AddressableType)(nil)
	_ ducktypes.Implementable = (*Conditions)(nil)
	_ ducktypes.Implementable = (*Addressable)(nil)
	_ KRShaped                = (*KResource)(nil)
)

// GetFullType returns the resource with this shape.
func (*Conditions) GetFullType() ducktypes.Populatable { return &KResource{} }

// GetListType returns an empty list.
func (*KResource) GetListType() runtime.Object { return &KResourceList{} }

// GetStatus returns the status, not a copy.
func (r *KResource) GetStatus() *Status { return &r.Status }

// GetConditionSet returns a set of Ready alone, or of Succeeded where the
// resource has that.
func (r *KResource) GetConditionSet() apis.ConditionSet {
	if r.Status.GetCondition(apis.ConditionSucceeded) != nil {
		return apis.NewBatchConditionSet()
	}
	return apis.NewLivingConditionSet()
}
