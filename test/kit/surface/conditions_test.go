// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package surface_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"weir.dev/pkg/apis"
	duckv1 "weir.dev/pkg/apis/duck/v1"
)

const (
	one   apis.ConditionType = "One"
	two   apis.ConditionType = "Two"
	aside apis.ConditionType = "Aside"
)

var (
	_ apis.ConditionsAccessor = (*duckv1.Status)(nil)
	_ apis.ConditionAccessor  = (*duckv1.Status)(nil)
)

// TestConditionSets: what runs is Ready, what ends Succeeded.
func TestConditionSets(t *testing.T) {
	for want, set := range map[apis.ConditionType]apis.ConditionSet{
		apis.ConditionReady:     apis.NewLivingConditionSet(one, two),
		apis.ConditionSucceeded: apis.NewBatchConditionSet(one, two),
	} {
		status := &duckv1.Status{}
		manager := set.Manage(status)
		manager.InitializeConditions()
		if len(status.Conditions) != 3 || !manager.GetTopLevelCondition().IsUnknown() || manager.GetTopLevelCondition().Type != want {
			t.Errorf("%s: to begin with %v", want, status.Conditions)
		}
		manager.MarkTrue(one)
		manager.MarkTrueWithReason(two, "Skipped", "not %s", "needed")
		if !manager.IsHappy() || manager.GetCondition(two).GetReason() != "Skipped" || manager.GetCondition(two).GetMessage() != "not needed" {
			t.Errorf("%s: all is well, got %v", want, status.Conditions)
		}
	}
}

// TestAggregation: the summary follows what it depends on.
func TestAggregation(t *testing.T) {
	tests := map[string]struct {
		mark   func(apis.ConditionManager)
		status corev1.ConditionStatus
		reason string
	}{
		"False":      {func(m apis.ConditionManager) { m.MarkFalse(one, "Broken", "why: %d", 1) }, corev1.ConditionFalse, "Broken"},
		"Unknown":    {func(m apis.ConditionManager) { m.MarkUnknown(one, "Waiting", "") }, corev1.ConditionUnknown, "Waiting"},
		"FalseFirst": {func(m apis.ConditionManager) { m.MarkFalse(one, "Broken", ""); m.MarkUnknown(two, "Waiting", "") }, corev1.ConditionFalse, "Broken"},
		"Recovered":  {func(m apis.ConditionManager) { m.MarkFalse(one, "Broken", ""); m.MarkTrue(one) }, corev1.ConditionTrue, ""},
		"Aside":      {func(m apis.ConditionManager) { m.MarkFalse(aside, "Broken", "") }, corev1.ConditionTrue, ""},
		"Set": {func(m apis.ConditionManager) {
			m.SetCondition(apis.Condition{Type: aside, Status: corev1.ConditionFalse})
		}, corev1.ConditionTrue, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			status := &duckv1.Status{}
			manager := apis.NewLivingConditionSet(one, two).Manage(status)
			manager.InitializeConditions()
			manager.MarkTrue(one)
			manager.MarkTrue(two)
			tc.mark(manager)
			if top := manager.GetTopLevelCondition(); top.Status != tc.status || top.Reason != tc.reason {
				t.Errorf("Ready is %+v", top)
			}
		})
	}
}

func TestClearCondition(t *testing.T) {
	status := &duckv1.Status{}
	manager := apis.NewLivingConditionSet(one).Manage(status)
	manager.MarkFalse(aside, "Reason", "")
	if got := manager.GetCondition(aside); got.Severity != apis.ConditionSeverityInfo {
		t.Errorf("what does not count is for information, got %q", got.Severity)
	}
	if err := manager.ClearCondition(aside); err != nil || manager.GetCondition(aside) != nil {
		t.Errorf("ClearCondition: %v", err)
	}
	if err := manager.ClearCondition(one); err == nil {
		t.Error("the summary depends on it")
	}
	var none *apis.Condition
	if none.IsTrue() || none.IsFalse() || !none.IsUnknown() || none.GetReason() != "" || none.GetMessage() != "" {
		t.Error("a condition that is not there is unknown")
	}
}
