// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package apis

import (
	corev1 "k8s.io/api/core/v1"
)

// ConditionType names a condition; CamelCase, positive (True is good).
type ConditionType string

const (
	// ConditionReady sums up a resource that keeps running.
	ConditionReady ConditionType = "Ready"
	// ConditionSucceeded sums up a resource that runs to completion.
	ConditionSucceeded ConditionType = "Succeeded"
)

// ConditionSeverity says how bad it is when a condition is not True.
type ConditionSeverity string

const (
	// ConditionSeverityError is the severity of conditions that count for the
	// summary.
	ConditionSeverityError ConditionSeverity = ""
	// ConditionSeverityWarning is worth a look, yet not a failure.
	ConditionSeverityWarning ConditionSeverity = "Warning"
	// ConditionSeverityInfo is for information only.
	ConditionSeverityInfo ConditionSeverity = "Info"
)

// Condition is one observed aspect of a resource.
// +k8s:deepcopy-gen=true
type Condition struct {
	// Type of condition.
	// +required
	Type ConditionType `json:"type"`

	// Status of the condition, one of True, False, Unknown.
	// +required
	Status corev1.ConditionStatus `json:"status"`

	// Severity when the condition is not True; empty means error.
	// +optional
	Severity ConditionSeverity `json:"severity,omitempty"`

	// LastTransitionTime is the last time the condition changed.
	// +optional
	LastTransitionTime VolatileTime `json:"lastTransitionTime,omitempty"`

	// Reason for the last transition, one CamelCase word.
	// +optional
	Reason string `json:"reason,omitempty"`

	// Message describes the last transition to a human.
	// +optional
	Message string `json:"message,omitempty"`
}

// IsTrue says whether the condition is True; nil is not.
func (c *Condition) IsTrue() bool { return c != nil && c.Status == corev1.ConditionTrue }

// IsFalse says whether the condition is False; nil is not.
func (c *Condition) IsFalse() bool { return c != nil && c.Status == corev1.ConditionFalse }

// IsUnknown says whether the condition is Unknown; nil is.
func (c *Condition) IsUnknown() bool { return c == nil || c.Status == corev1.ConditionUnknown }

// GetReason returns the reason; "" for nil.
func (c *Condition) GetReason() string {
	if c == nil {
		return ""
	}
	return c.Reason
}

// GetMessage returns the message; "" for nil.
func (c *Condition) GetMessage() string {
	if c == nil {
		return ""
	}
	return c.Message
}

// Conditions are the conditions of one resource, unique by type.
// +k8s:deepcopy-gen=true
type Conditions []Condition

// ConditionsAccessor is a status that holds conditions.
type ConditionsAccessor interface {
	// GetConditions returns the conditions.
	GetConditions() Conditions
	// SetConditions replaces the conditions.
	SetConditions(Conditions)
}

// ConditionAccessor reads conditions by their type.
type ConditionAccessor interface {
	// GetCondition returns a copy of the condition, or nil.
	GetCondition(t ConditionType) *Condition
}
