// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"weir.dev/api/autoscaling"
	apiconfig "weir.dev/api/config"
	"weir.dev/api/serving"
	v1 "weir.dev/api/serving/v1"
	"weir.dev/pkg/kmap"
	"weir.dev/pkg/kmeta"
	"weir.dev/pkg/ptr"
)

// Deployment returns the Deployment of rev to be. existing is what is there, nil if nothing is: the result keeps its replicas
// (the autoscaler's), its selector, the labels and annotations that others added, and, while it has instances, its images.
func Deployment(rev *v1.Revision, s Settings, existing *appsv1.Deployment) *appsv1.Deployment {
	d := fresh(rev, s, pinned(rev, existing))
	hash := hashOf(d)
	d.Spec.Replicas = ptr.Int32(InitialScale(rev, s.Autoscaler))
	if existing != nil {
		d = adopt(d, existing)
	}
	d.Labels[serving.DeploymentHashLabelKey] = hash
	return d
}

// fresh returns the Deployment of rev as far as it follows from rev and the settings; images are by container name.
func fresh(rev *v1.Revision, s Settings, images map[string]string) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Name:            DeploymentName(rev),
			Namespace:       rev.Namespace,
			Labels:          podLabels(rev),
			Annotations:     podAnnotations(rev),
			OwnerReferences: []metav1.OwnerReference{*kmeta.NewControllerRef(rev)},
		},
		Spec: appsv1.DeploymentSpec{
			Selector:                &metav1.LabelSelector{MatchLabels: PodSelector(rev)},
			ProgressDeadlineSeconds: ptr.Int32(int32(ProgressDeadline(rev, s.Deployment) / time.Second)),
			RevisionHistoryLimit:    ptr.Int32(0),
			Strategy:                strategy(),
			Template:                podTemplate(rev, s, images),
		},
	}
}

// podTemplate returns what the pods of rev are made from; images are by container name.
func podTemplate(rev *v1.Revision, s Settings, images map[string]string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: podLabels(rev), Annotations: podTemplateAnnotations(rev)},
		Spec:       podSpec(rev, s, images),
	}
}

// Pod returns a pod of rev, for dry runs; it has no name.
func Pod(rev *v1.Revision, s Settings) *corev1.Pod {
	made := podTemplate(rev, s, nil)
	made.Namespace = rev.Namespace
	return &corev1.Pod{ObjectMeta: made.ObjectMeta, Spec: made.Spec}
}

// UpToDate says that existing was made from what want is made from, and that nobody has changed since what is ours to set:
// nothing is to be written.
func UpToDate(want, existing *appsv1.Deployment) bool {
	return existing.Labels[serving.DeploymentHashLabelKey] == want.Labels[serving.DeploymentHashLabelKey] &&
		equality.Semantic.DeepDerivative(compared(want), compared(existing))
}

// compared is a pod template but for the hooks, which the hash leaves out, too. What others add where we say nothing (the API
// server's defaults, a webhook's variables) is no change: it is only asked whether all that we say is there.
func compared(d *appsv1.Deployment) *corev1.PodTemplateSpec {
	template := d.Spec.Template.DeepCopy()
	for _, containers := range [][]corev1.Container{template.Spec.InitContainers, template.Spec.Containers} {
		for i := range containers {
			c := &containers[i]
			c.Lifecycle = nil
			for _, p := range []*corev1.Probe{c.ReadinessProbe, c.LivenessProbe, c.StartupProbe} {
				defaultProbe(p)
			}
		}
	}
	return template
}

// defaultProbe sets the numbers that the API server sets: to a comparison a number of 0 is a number, not one left out.
func defaultProbe(p *corev1.Probe) {
	if p == nil {
		return
	}
	p.TimeoutSeconds = cmp.Or(p.TimeoutSeconds, 1)
	p.PeriodSeconds = cmp.Or(p.PeriodSeconds, 10)
	p.SuccessThreshold = cmp.Or(p.SuccessThreshold, 1)
	p.FailureThreshold = cmp.Or(p.FailureThreshold, 3)
}

// InitialScale is how many instances a new rev starts with, at most as many as it may have.
func InitialScale(rev *v1.Revision, cfg *apiconfig.Autoscaler) int32 {
	initial := cfg.InitialScale
	if n, ok := count(rev, autoscaling.InitialScaleAnnotation()); ok && (n > 0 || cfg.AllowZeroInitialScale) {
		initial = n
	}
	most := cfg.MaxScale
	if n, ok := count(rev, autoscaling.MaxScaleAnnotation()); ok {
		most = n
	}
	if most > 0 {
		return min(initial, most)
	}
	return initial
}

// count reads an annotation that is a number of instances; what is none counts as not there.
func count(rev *v1.Revision, key kmap.KeyPriority) (int32, bool) {
	_, text, ok := key.Get(rev.Annotations)
	n, err := strconv.ParseInt(text, 10, 32)
	return int32(n), ok && err == nil && n >= 0
}

// strategy never takes an instance away before its successor is ready.
func strategy() appsv1.DeploymentStrategy {
	none := intstr.FromInt32(0)
	return appsv1.DeploymentStrategy{
		Type:          appsv1.RollingUpdateDeploymentStrategyType,
		RollingUpdate: &appsv1.RollingUpdateDeployment{MaxUnavailable: &none},
	}
}

// adopt returns existing with all that is ours to set as in d.
func adopt(d, existing *appsv1.Deployment) *appsv1.Deployment {
	out := existing.DeepCopy()
	out.Labels = kmap.Union(foreign(existing.Labels), d.Labels)
	out.Annotations = kmap.Union(foreign(existing.Annotations), d.Annotations)
	out.Spec = d.Spec
	out.Spec.Replicas = existing.Spec.Replicas
	out.Spec.Selector = existing.Spec.Selector
	template, was := &out.Spec.Template, &existing.Spec.Template
	template.Labels = kmap.Union(foreign(was.Labels), template.Labels)
	template.Annotations = kmap.Union(foreign(was.Annotations), template.Annotations)
	return out
}

// foreign returns the entries that tools and people may have put on an object of ours.
func foreign(m map[string]string) map[string]string {
	return kmap.Filter(m, func(key string) bool {
		return key == serving.AppLabelKey || strings.Contains(key, "knative.dev/")
	})
}

// pinned returns the image of each container by name: by digest where that is known. A digest that was learnt late waits
// until the Deployment has no instances: it must not restart any that run by the tag.
func pinned(rev *v1.Revision, existing *appsv1.Deployment) map[string]string {
	images := map[string]string{}
	for _, statuses := range [][]v1.ContainerStatus{rev.Status.ContainerStatuses, rev.Status.InitContainerStatuses} {
		for _, s := range statuses {
			if s.ImageDigest != "" {
				images[s.Name] = s.ImageDigest
			}
		}
	}
	if existing == nil || existing.Spec.Replicas != nil && *existing.Spec.Replicas == 0 {
		return images
	}
	byTag := map[string]string{}
	for _, c := range slices.Concat(rev.Spec.Containers, rev.Spec.InitContainers) {
		byTag[c.Name] = c.Image
	}
	pod := existing.Spec.Template.Spec
	for _, c := range slices.Concat(pod.Containers, pod.InitContainers) {
		if c.Image == byTag[c.Name] {
			images[c.Name] = c.Image
		}
	}
	return images
}
