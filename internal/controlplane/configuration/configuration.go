// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"cmp"
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"weir.dev/api/serving"
	v1 "weir.dev/api/serving/v1"
	clientset "weir.dev/client/clientset/versioned"
	configurationreconciler "weir.dev/client/injection/reconciler/serving/v1/configuration"
	listers "weir.dev/client/listers/serving/v1"
	"weir.dev/pkg/apis"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/reconciler"
)

// Reconciler makes the Revisions of a Configuration.
type Reconciler struct {
	client    clientset.Interface
	revisions listers.RevisionLister
	now       func() time.Time
}

var _ configurationreconciler.Interface = (*Reconciler)(nil)

// ReconcileKind implements configurationreconciler.Interface.
func (r *Reconciler) ReconcileKind(ctx context.Context, config *v1.Configuration) reconciler.Event {
	before := config.Status.GetCondition(v1.ConfigurationConditionReady)
	all, err := r.owned(config)
	if err != nil {
		return err
	}
	latest, err := r.latestCreated(ctx, config, all)
	if latest == nil || err != nil {
		return err
	}
	config.Status.SetLatestCreatedRevisionName(latest.Name)
	r.reflectReady(ctx, config, all)
	reflectLatest(ctx, config, latest, before)
	return nil
}

// owned returns all Revisions of config.
func (r *Reconciler) owned(config *v1.Configuration) ([]*v1.Revision, error) {
	selector := labels.SelectorFromSet(labels.Set{serving.ConfigurationLabelKey: config.Name})
	all, err := r.revisions.Revisions(config.Namespace).List(selector)
	if err != nil {
		return nil, fmt.Errorf("listing Revisions of %q: %w", config.Name, err)
	}
	owned := make([]*v1.Revision, 0, len(all))
	for _, rev := range all {
		if metav1.IsControlledBy(rev, config) {
			owned = append(owned, rev)
		}
	}
	return owned, nil
}

// reflectReady moves latestReady forward.
func (r *Reconciler) reflectReady(ctx context.Context, config *v1.Configuration, all []*v1.Revision) {
	before, recorder := config.Status.LatestReadyRevisionName, controller.GetEventRecorder(ctx)
	now := latestReady(config, all)
	if now == nil {
		return
	}
	config.Status.SetLatestReadyRevisionName(now.Name)
	if before == now.Name {
		return
	}
	if before == "" {
		recorder.Event(config, corev1.EventTypeNormal, "ConfigurationReady", "Configuration becomes ready")
	}
	recorder.Eventf(config, corev1.EventTypeNormal, "LatestReadyUpdate", "LatestReadyRevisionName updated to %q", now.Name)
}

// reflectLatest says that the newest Revision failed, if it did, with an event unless the condition before said so already; or
// what it waits for, where the Revision tells. It mostly does not: a start is too short to write about.
func reflectLatest(ctx context.Context, config *v1.Configuration, latest *v1.Revision, before *apis.Condition) {
	ready := latest.Status.GetCondition(v1.RevisionConditionReady)
	if ready.IsUnknown() && latest.Name != config.Status.LatestReadyRevisionName {
		config.Status.MarkLatestCreatedWaiting(latest.Name, cmp.Or(ready.GetReason(), v1.ReasonDeploying), ready.GetMessage())
	}
	if !latest.IsFailed() {
		return
	}
	message := ready.GetMessage()
	config.Status.MarkLatestCreatedFailed(latest.Name, message)
	now := config.Status.GetCondition(v1.ConfigurationConditionReady)
	if before.IsFalse() && before.Message == now.Message {
		return
	}
	reason := "LatestCreatedFailed"
	if latest.Name == config.Status.LatestReadyRevisionName {
		reason = "LatestReadyFailed"
	}
	controller.GetEventRecorder(ctx).Eventf(config, corev1.EventTypeWarning, reason, "Revision %q failed: %s", latest.Name, message)
}
