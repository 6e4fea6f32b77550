// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"weir.dev/pkg/apis"
	duckv1 "weir.dev/pkg/apis/duck/v1"
	"weir.dev/pkg/logging"
)

const (
	reasonNewGeneration  = "NewObservedGenFailure"
	messageNewGeneration = "unsuccessfully observed a new generation"
)

// PreProcessReconcile prepares an object for ReconcileKind: defaults of newer
// versions are set, conditions exist, and those of an older generation are not
// taken for the truth about this one: until ReconcileKind says more, the top
// condition is Unknown with a reason of its own.
func PreProcessReconcile(ctx context.Context, resource duckv1.KRShaped) {
	if d, ok := resource.(apis.Defaultable); ok {
		d.SetDefaults(ctx)
	}
	status, set := resource.GetStatus(), resource.GetConditionSet()
	manager := set.Manage(status)
	manager.InitializeConditions()
	if status.ObservedGeneration != resource.GetGeneration() {
		manager.MarkUnknown(set.GetTopLevelConditionType(), reasonNewGeneration, messageNewGeneration)
	}
}

// PostProcessReconcile completes the status after ReconcileKind, whatever it
// returned: the generation is observed, and a condition that ended as it was
// stored keeps its transition time, so that going back and forth inside one
// reconcile leaves no trace.
func PostProcessReconcile(ctx context.Context, resource, oldResource duckv1.KRShaped) {
	status := resource.GetStatus()
	status.ObservedGeneration = resource.GetGeneration()

	top := resource.GetConditionSet().Manage(status).GetTopLevelCondition()
	if top != nil && top.Reason == reasonNewGeneration {
		logging.FromContext(ctx).Debug("The reconciler observed a new generation without updating the conditions")
	}
	keepTransitionTimes(status, oldResource.GetStatus())
}

func keepTransitionTimes(status, old *duckv1.Status) {
	now := apis.VolatileTime{Inner: metav1.NewTime(time.Now())}
	for i := range status.Conditions {
		c := &status.Conditions[i]
		c.LastTransitionTime = now
		if was := old.GetCondition(c.Type); was != nil && sameExceptTime(*c, *was) {
			c.LastTransitionTime = was.LastTransitionTime
		}
	}
}

func sameExceptTime(a, b apis.Condition) bool {
	a.LastTransitionTime, b.LastTransitionTime = apis.VolatileTime{}, apis.VolatileTime{}
	return a == b
}
