// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"weir.dev/pkg/apis"
)

// Conditions are the conditions of one resource, unique by type.
// +genduck
type Conditions apis.Conditions

// Status is what every resource's status has; it is inlined.
type Status struct {
	// ObservedGeneration is the generation of the spec that was last processed
	// by the controller.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions are the latest observations of the resource's state.
	// +optional
	// +patchMergeKey=type
	// +patchStrategy=merge
	Conditions Conditions `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`

	// Annotations is additional information that a controller wants to keep
	// with the status.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

var _ apis.ConditionsAccessor = (*Status)(nil)

// GetConditions returns the conditions.
func (s *Status) GetConditions() apis.Conditions { return apis.Conditions(s.Conditions) }

// SetConditions replaces the conditions.
func (s *Status) SetConditions(c apis.Conditions) { s.Conditions = Conditions(c) }

// GetCondition returns a copy of the condition of the given type, or nil.
func (s *Status) GetCondition(t apis.ConditionType) *apis.Condition {
	for _, c := range s.Conditions {
		if c.Type == t {
			return &c
		}
	}
	return nil
}

// ConvertTo copies the status into sink; of the conditions only those that
// predicate accepts (by default Ready and Succeeded).
func (s *Status) ConvertTo(_ context.Context, sink *Status, predicates ...func(apis.ConditionType) bool) {
	sink.ObservedGeneration = s.ObservedGeneration
	if s.Annotations != nil {
		sink.Annotations = make(map[string]string, len(s.Annotations))
		for k, v := range s.Annotations {
			sink.Annotations[k] = v
		}
	}
	sink.Conditions = nil
	for _, c := range s.Conditions {
		if keeps(c.Type, predicates) {
			sink.Conditions = append(sink.Conditions, c)
		}
	}
}

func keeps(t apis.ConditionType, predicates []func(apis.ConditionType) bool) bool {
	if len(predicates) == 0 {
		return t == apis.ConditionReady || t == apis.ConditionSucceeded
	}
	for _, p := range predicates {
		if p(t) {
			return true
		}
	}
	return false
}

// KResource is a resource that has nothing but the common status.
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type KResource struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Status is the common status.
	Status Status `json:"status"`
}

// KResourceList is a list of KResource.
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type KResourceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`

	// Items are the resources.
	Items []KResource `json:"items"`
}

// Populate sets every field of the shape.
func (r *KResource) Populate() {
	r.Status = Status{
		ObservedGeneration: 42,
		Conditions: Conditions{{
			Type:               apis.ConditionReady,
			Status:             corev1.ConditionTrue,
			LastTransitionTime: apis.VolatileTime{Inner: metav1.NewTime(time.Date(1984, 2, 28, 18, 52, 0, 0, time.UTC))},
			Reason:             "ASampleReason",
			Message:            "a sample message",
		}},
		Annotations: map[string]string{"a": "sample"},
	}
}
