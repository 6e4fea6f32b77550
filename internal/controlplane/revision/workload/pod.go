// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"weir.dev/api/serving"
	v1 "weir.dev/api/serving/v1"
	"weir.dev/internal/controlplane/config"
	"weir.dev/pkg/ptr"
)

const (
	// defaultContainerAnnotation tells kubectl which container logs and exec mean.
	defaultContainerAnnotation = "kubectl.kubernetes.io/default-container"
	// killDelay is what an instance gets after its last request, or after the drain timeout, to end by itself.
	killDelay = 30 * time.Second
	// defaultTimeout is the request timeout of a Revision that has none.
	defaultTimeout = 300 * time.Second
)

// podTemplateAnnotations returns the annotations of pods.
func podTemplateAnnotations(rev *v1.Revision) map[string]string {
	annotations := podAnnotations(rev)
	if _, ok := annotations[defaultContainerAnnotation]; !ok {
		annotations[defaultContainerAnnotation] = rev.Spec.GetContainer().Name
	}
	return annotations
}

// podSpec returns the pod of rev: the user's containers and nothing beside them. images are by container name.
func podSpec(rev *v1.Revision, s Settings, images map[string]string) corev1.PodSpec {
	pod := *rev.Spec.PodSpec.DeepCopy()
	servingName := rev.Spec.GetContainer().Name
	for i := range pod.Containers {
		c := &pod.Containers[i]
		if c.Name == servingName {
			serve(c, rev)
		}
		complete(c, rev, images)
		c.Lifecycle = drainHook(rev, s)
	}
	for i := range pod.InitContainers {
		complete(&pod.InitContainers[i], rev, images)
	}
	pod.TerminationGracePeriodSeconds = ptr.Int64(int64((DrainTimeout(rev) + killDelay) / time.Second))
	if pod.Affinity == nil && s.Deployment.DefaultAffinity == config.AffinitySpread {
		pod.Affinity = spread(rev)
	}
	if pod.RuntimeClassName == nil {
		pod.RuntimeClassName = s.Deployment.RuntimeClassName(rev.Labels)
	}
	return pod
}

// DrainTimeout is how long an instance that goes away may take for the requests it has: the annotation, else the time that
// a request may take.
func DrainTimeout(rev *v1.Revision) time.Duration {
	if d, err := time.ParseDuration(rev.Annotations[serving.DrainTimeoutAnnotationKey]); err == nil && d >= 0 {
		return d
	}
	if rev.Spec.TimeoutSeconds != nil && *rev.Spec.TimeoutSeconds > 0 {
		return time.Duration(*rev.Spec.TimeoutSeconds) * time.Second
	}
	return defaultTimeout
}

// spread prefers nodes that have no instance of rev yet.
func spread(rev *v1.Revision) *corev1.Affinity {
	return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{
			Weight: 100,
			PodAffinityTerm: corev1.PodAffinityTerm{
				TopologyKey: corev1.LabelHostname,
				LabelSelector: &metav1.LabelSelector{
					MatchLabels: map[string]string{serving.RevisionLabelKey: rev.Name},
				},
			},
		}},
	}}
}
