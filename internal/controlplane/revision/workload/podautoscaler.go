// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"weir.dev/api/autoscaling"
	autoscalingv1alpha1 "weir.dev/api/autoscaling/v1alpha1"
	"weir.dev/api/serving"
	v1 "weir.dev/api/serving/v1"
	"weir.dev/pkg/kmap"
	"weir.dev/pkg/kmeta"
)

// Outlook is what a PodAutoscaler is to know of its Revision beside what that one says itself.
type Outlook struct {
	// Failing says that instances are wanted and none can start.
	Failing bool
	// Abandoned says that it was never ready and nobody waits for it any more.
	Abandoned bool
}

// PodAutoscaler returns the PodAutoscaler of rev to be. existing is what is there, nil if nothing is: the result keeps the
// labels and annotations that others added, and a class and metric that defaulting filled in.
func PodAutoscaler(rev *v1.Revision, outlook Outlook, existing *autoscalingv1alpha1.PodAutoscaler) *autoscalingv1alpha1.PodAutoscaler {
	pa := &autoscalingv1alpha1.PodAutoscaler{ObjectMeta: metav1.ObjectMeta{
		Name:            PodAutoscalerName(rev),
		Namespace:       rev.Namespace,
		OwnerReferences: []metav1.OwnerReference{*kmeta.NewControllerRef(rev)},
	}}
	if existing != nil {
		pa = existing.DeepCopy()
	}
	pa.Labels = kmap.Union(foreign(pa.Labels), podLabels(rev))
	pa.Annotations = kmap.Union(keptAnnotations(pa.Annotations), childAnnotations(rev))
	if outlook.Abandoned {
		pa.Annotations[autoscaling.AbandonedAnnotationKey] = "true"
	}
	pa.Spec = autoscalingv1alpha1.PodAutoscalerSpec{
		ContainerConcurrency: rev.Spec.GetContainerConcurrency(),
		ScaleTargetRef: corev1.ObjectReference{
			APIVersion: "apps/v1",
			Kind:       "Deployment",
			Name:       DeploymentName(rev),
		},
		ProtocolType: rev.GetProtocol(),
		Reachability: reachability(rev, outlook.Failing),
	}
	return pa
}

// keptAnnotations are those of a PodAutoscaler that its Revision need not have.
func keptAnnotations(m map[string]string) map[string]string {
	kept := kmap.ExcludeKeys(foreign(m), autoscaling.AbandonedAnnotationKey)
	for _, key := range []string{autoscaling.ClassAnnotationKey, autoscaling.MetricAnnotationKey} {
		if v, ok := m[key]; ok {
			kept[key] = v
		}
	}
	return kept
}

// reachability says whether requests can come to rev, which is what holds its least scale.
func reachability(rev *v1.Revision, failing bool) autoscalingv1alpha1.ReachabilityType {
	switch state := routingState(rev); {
	case failing || state == v1.RoutingStateReserve:
		return autoscalingv1alpha1.ReachabilityUnreachable
	case state == v1.RoutingStateActive:
		return autoscalingv1alpha1.ReachabilityReachable
	default:
		return autoscalingv1alpha1.ReachabilityUnknown
	}
}

func routingState(rev *v1.Revision) v1.RoutingState {
	return v1.RoutingState(rev.Labels[serving.RoutingStateLabelKey])
}
