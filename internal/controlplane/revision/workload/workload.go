// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package workload computes what a Revision runs as: its Deployment and its PodAutoscaler. Pure: the desired objects follow
// from the Revision, the settings and, where others own a field (replicas, foreign labels), the object that is there. It
// makes no API call and knows no conditions. Package revision imports it, and admission for dry runs.
package workload

import (
	"net/netip"
	"time"

	corev1 "k8s.io/api/core/v1"

	"weir.dev/api/autoscaling"
	apiconfig "weir.dev/api/config"
	"weir.dev/api/serving"
	v1 "weir.dev/api/serving/v1"
	"weir.dev/internal/controlplane/config"
	"weir.dev/pkg/kmap"
	"weir.dev/pkg/kmeta"
)

// Settings are the inputs that are not the Revision's own.
type Settings struct {
	Deployment *config.Deployment
	Autoscaler *apiconfig.Autoscaler
	// Drain is where pods that go away wait for their requests to end; the zero value leaves them without a hook.
	Drain netip.AddrPort
}

// DeploymentName returns the name of the Deployment of rev.
func DeploymentName(rev *v1.Revision) string { return kmeta.ChildName(rev.Name, "-deployment") }

// PodAutoscalerName returns the name of the PodAutoscaler of rev.
func PodAutoscalerName(rev *v1.Revision) string { return rev.Name }

// PodSelector returns the labels by which the pods of rev are found; a Deployment's selector never changes.
func PodSelector(rev *v1.Revision) map[string]string {
	return map[string]string{serving.RevisionUID: string(rev.UID)}
}

// ProgressDeadline is how long rev may take to become ready: its annotation, else the configured time or, where that is
// shorter, what its startup probes allow.
func ProgressDeadline(rev *v1.Revision, cfg *config.Deployment) time.Duration {
	if _, text, ok := serving.ProgressDeadlineAnnotation().Get(rev.Annotations); ok {
		if d, err := time.ParseDuration(text); err == nil && d > 0 {
			return d
		}
	}
	deadline := cfg.ProgressDeadline
	for i := range rev.Spec.Containers {
		deadline = max(deadline, startupBudget(rev.Spec.Containers[i].StartupProbe))
	}
	return deadline
}

// startupBudget is the longest that a startup probe lets a container take; Kubernetes defaults apply.
func startupBudget(p *corev1.Probe) time.Duration {
	if p == nil {
		return 0
	}
	period, failures := p.PeriodSeconds, p.FailureThreshold
	if period == 0 {
		period = 10
	}
	if failures == 0 {
		failures = 3
	}
	return time.Duration(p.InitialDelaySeconds+period*failures) * time.Second
}

// podLabels returns the labels of everything that is made for rev.
func podLabels(rev *v1.Revision) map[string]string {
	labels := kmap.ExcludeKeys(rev.Labels, serving.RouteLabelKey, serving.RoutingStateLabelKey)
	labels[serving.RevisionLabelKey] = rev.Name
	labels[serving.RevisionUID] = string(rev.UID)
	if _, ok := labels[serving.AppLabelKey]; !ok {
		labels[serving.AppLabelKey] = rev.Name
	}
	return labels
}

// childAnnotations returns the annotations of rev that concern its children.
func childAnnotations(rev *v1.Revision) map[string]string {
	return kmap.ExcludeKeys(rev.Annotations,
		serving.RevisionLastPinnedAnnotationKey,
		serving.RevisionPreservedAnnotationKey,
		serving.RoutingStateModifiedAnnotationKey,
		serving.RoutesAnnotationKey,
		autoscaling.AbandonedAnnotationKey, // which is not the user's to say
	)
}

// podAnnotations returns the annotations of Deployment and pods: scaling is the PodAutoscaler's business, so that a changed
// bound rolls no pod.
func podAnnotations(rev *v1.Revision) map[string]string {
	return kmap.Filter(childAnnotations(rev), isAutoscaling)
}

func isAutoscaling(key string) bool {
	return len(key) >= len(autoscaling.GroupName) && key[:len(autoscaling.GroupName)] == autoscaling.GroupName
}
