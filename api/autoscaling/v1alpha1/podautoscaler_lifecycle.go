// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"fmt"
	"time"

	"weir.dev/pkg/apis"
)

// Reasons of PodAutoscaler conditions.
const (
	// ReasonNoTraffic is a target that went to zero, or starts there.
	ReasonNoTraffic = "NoTraffic"
	// ReasonTimedOut is a target that did not come up.
	ReasonTimedOut = "TimedOut"
	// ReasonQueued is a target that comes up while requests wait.
	ReasonQueued = "Queued"
	// ReasonNotReady is a target that requests do not find yet.
	ReasonNotReady = "NotReady"
	// ReasonNotOwned is a child's name taken by an object of somebody else.
	ReasonNotOwned = "NotOwned"
	// ReasonFailedCreate is a child that could not be created.
	ReasonFailedCreate = "FailedCreate"
)

// Messages of PodAutoscaler conditions.
const (
	// MessageNoTraffic goes with ReasonNoTraffic.
	MessageNoTraffic = "The target is not receiving traffic."
	// MessageTimedOut goes with ReasonTimedOut.
	MessageTimedOut = "The target could not be activated."
	// MessageQueued goes with ReasonQueued.
	MessageQueued = "Requests to the target are being buffered as resources are provisioned."
)

func podAutoscalerConditions() apis.ConditionSet {
	return apis.NewLivingConditionSet(
		PodAutoscalerConditionActive,
		PodAutoscalerConditionScaleTargetInitialized,
		PodAutoscalerConditionSKSReady,
	).Explained()
}

// GetConditionSet returns the conditions of PodAutoscalers.
func (*PodAutoscaler) GetConditionSet() apis.ConditionSet { return podAutoscalerConditions() }

// IsReady says whether pods take requests.
func (pa *PodAutoscaler) IsReady() bool {
	return pa.Status.ObservedGeneration == pa.Generation &&
		pa.Status.GetCondition(PodAutoscalerConditionReady).IsTrue()
}

// IsFailed says whether no pod takes requests.
func (pa *PodAutoscaler) IsFailed() bool {
	return pa.Status.ObservedGeneration == pa.Generation &&
		pa.Status.GetCondition(PodAutoscalerConditionReady).IsFalse()
}

func (pas *PodAutoscalerStatus) manage() apis.ConditionManager {
	return podAutoscalerConditions().Manage(pas)
}

// InitializeConditions adds missing conditions as Unknown.
func (pas *PodAutoscalerStatus) InitializeConditions() { pas.manage().InitializeConditions() }

// IsScaleTargetInitialized says whether the target was once up to its initial
// scale.
func (pas *PodAutoscalerStatus) IsScaleTargetInitialized() bool {
	return pas.GetCondition(PodAutoscalerConditionScaleTargetInitialized).IsTrue()
}

// MarkScaleTargetInitialized says that the target was up.
func (pas *PodAutoscalerStatus) MarkScaleTargetInitialized() {
	pas.manage().MarkTrue(PodAutoscalerConditionScaleTargetInitialized)
}

// MarkScaleTargetNotInitialized says that the target never was up.
func (pas *PodAutoscalerStatus) MarkScaleTargetNotInitialized(reason, message string) {
	pas.manage().MarkFalse(PodAutoscalerConditionScaleTargetInitialized, reason, "%s", message)
}

// IsActivating says whether the target comes up.
func (pas *PodAutoscalerStatus) IsActivating() bool {
	c := pas.GetCondition(PodAutoscalerConditionActive)
	return c != nil && c.IsUnknown()
}

// IsActive says whether pods take requests.
func (pas *PodAutoscalerStatus) IsActive() bool {
	return pas.GetCondition(PodAutoscalerConditionActive).IsTrue()
}

// IsInactive says whether the target is at zero, or going there.
func (pas *PodAutoscalerStatus) IsInactive() bool {
	return pas.GetCondition(PodAutoscalerConditionActive).IsFalse()
}

// MarkActivating says that the target comes up.
func (pas *PodAutoscalerStatus) MarkActivating(reason, message string) {
	pas.manage().MarkUnknown(PodAutoscalerConditionActive, reason, "%s", message)
}

// MarkActive says that pods take requests.
func (pas *PodAutoscalerStatus) MarkActive() { pas.manage().MarkTrue(PodAutoscalerConditionActive) }

// MarkInactive says that the target is at zero, or going there.
func (pas *PodAutoscalerStatus) MarkInactive(reason, message string) {
	pas.manage().MarkFalse(PodAutoscalerConditionActive, reason, "%s", message)
}

// MarkSKSReady says that requests find the target.
func (pas *PodAutoscalerStatus) MarkSKSReady() {
	pas.manage().MarkTrue(PodAutoscalerConditionSKSReady)
}

// MarkSKSNotReady says that requests do not find the target yet.
func (pas *PodAutoscalerStatus) MarkSKSNotReady(message string) {
	pas.manage().MarkUnknown(PodAutoscalerConditionSKSReady, ReasonNotReady, "%s", message)
}

// MarkResourceNotOwned says that a child's name is taken.
func (pas *PodAutoscalerStatus) MarkResourceNotOwned(kind, name string) {
	pas.MarkInactive(ReasonNotOwned, fmt.Sprintf("There is an existing %s %q that we do not own.", kind, name))
}

// MarkResourceFailedCreation says that a child could not be created.
func (pas *PodAutoscalerStatus) MarkResourceFailedCreation(kind, name string) {
	pas.MarkInactive(ReasonFailedCreate, fmt.Sprintf("Failed to create %s %q.", kind, name))
}

// ActiveFor returns how long pods have taken requests; negative if they do
// not.
func (pas *PodAutoscalerStatus) ActiveFor(now time.Time) time.Duration {
	return since(pas.GetCondition(PodAutoscalerConditionActive), (*apis.Condition).IsTrue, now)
}

// InactiveFor returns how long the target has been inactive; negative if it
// is not.
func (pas *PodAutoscalerStatus) InactiveFor(now time.Time) time.Duration {
	return since(pas.GetCondition(PodAutoscalerConditionActive), (*apis.Condition).IsFalse, now)
}

// ActivatingFor returns how long the target has been coming up; negative if it
// is not.
func (pas *PodAutoscalerStatus) ActivatingFor(now time.Time) time.Duration {
	return since(pas.GetCondition(PodAutoscalerConditionActive), (*apis.Condition).IsUnknown, now)
}

func since(c *apis.Condition, is func(*apis.Condition) bool, now time.Time) time.Duration {
	if c == nil || !is(c) {
		return -1
	}
	return now.Sub(c.LastTransitionTime.Inner.Time)
}

// GetDesiredScale returns how many pods the autoscaler wants; -1 if unknown.
func (pas *PodAutoscalerStatus) GetDesiredScale() int32 { return scaleOf(pas.DesiredScale) }

// GetActualScale returns how many pods are ready; -1 if unknown.
func (pas *PodAutoscalerStatus) GetActualScale() int32 { return scaleOf(pas.ActualScale) }

func scaleOf(n *int32) int32 {
	if n == nil {
		return -1
	}
	return *n
}
