// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package autoscaler

import (
	"context"
	"encoding/json"
	"fmt"

	"go.uber.org/zap"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	appslisters "k8s.io/client-go/listers/apps/v1"
	"k8s.io/client-go/tools/cache"

	"weir.dev/api/autoscaling/v1alpha1"
	"weir.dev/api/serving"
	listers "weir.dev/client/listers/autoscaling/v1alpha1"
	"weir.dev/pkg/logging"
)

// byRevision is the name of our index of pods, by the UID of their revision.
const byRevision = "weir.dev/autoscaler/revision"

// cluster is the way to the API that NewController found in its context.
type cluster struct {
	kube        kubernetes.Interface
	autoscalers listers.PodAutoscalerLister
	deployments appslisters.DeploymentLister
	pods        cache.Indexer // with the index byRevision
	enqueue     func(types.NamespacedName)
	leads       func(types.NamespacedName) bool
	synced      []cache.InformerSynced
	log         *zap.SugaredLogger
}

// target is a PodAutoscaler with what it scales, as the caches have it.
type target struct {
	pa         *v1alpha1.PodAutoscaler
	deployment *appsv1.Deployment
	pods       []*corev1.Pod // that are ready
	ready      int32
}

// look reads a PodAutoscaler and its target.
func (c *cluster) look(key types.NamespacedName) (target, error) {
	pa, err := c.autoscalers.PodAutoscalers(key.Namespace).Get(key.Name)
	if err != nil {
		return target{}, fmt.Errorf("look up PodAutoscaler %s: %w", key, err)
	}
	return c.targetOf(pa)
}

func (c *cluster) targetOf(pa *v1alpha1.PodAutoscaler) (target, error) {
	deployment, err := c.deployments.Deployments(pa.Namespace).Get(pa.Spec.ScaleTargetRef.Name)
	if err != nil {
		return target{}, fmt.Errorf("look up Deployment %s/%s: %w", pa.Namespace, pa.Spec.ScaleTargetRef.Name, err)
	}
	pods, err := c.pods.ByIndex(byRevision, pa.Labels[serving.RevisionUID])
	if err != nil {
		return target{}, fmt.Errorf("look up pods of %s/%s: %w", pa.Namespace, pa.Name, err)
	}
	t := target{pa: pa, deployment: deployment}
	for _, obj := range pods {
		if pod, ok := obj.(*corev1.Pod); ok && serves(pod) {
			t.pods = append(t.pods, pod)
		}
	}
	t.ready = int32(len(t.pods))
	return t, nil
}

// serves says that a pod is ready and here to stay.
func serves(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil {
		return false
	}
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// replicas is what a Deployment asks for.
func replicas(d *appsv1.Deployment) int32 {
	if d.Spec.Replicas == nil {
		return 1
	}
	return *d.Spec.Replicas
}

// replicas is what a Deployment asks for as far as is known here, also when the cache does not have it yet. The lock
// scaling is held.
func (l *loop) replicas(d *appsv1.Deployment) int32 {
	if l.applied.version != "" && l.applied.version == d.ResourceVersion {
		return l.applied.replicas
	}
	return replicas(d)
}

// apply scales the Deployment, if it is not scaled so. The loop's lock scaling is held.
func (a *Autoscaler) apply(ctx context.Context, l *loop, t target, want int32) error {
	have := l.replicas(t.deployment)
	if want == have || (want == 0 && l.isBusy(a.current)) { // a request came since: the next decision sees it
		return nil
	}
	if want > 0 && want < have {
		a.cluster.markVictims(ctx, t.pods, int(have-want), l.inHand())
	}
	if err := a.cluster.scale(ctx, t.deployment, want); err != nil {
		return err
	}
	l.applied.version, l.applied.replicas = t.deployment.ResourceVersion, want
	logging.FromContext(ctx).Infow("Scaled", "deployment", t.deployment.Namespace+"/"+t.deployment.Name, "from", have, "to", want)
	return nil
}

// scale writes the scale. "add" also sets a value of 0, which the subresource leaves out.
func (c *cluster) scale(ctx context.Context, d *appsv1.Deployment, want int32) error {
	patch, err := json.Marshal([]map[string]any{{"op": "add", "path": "/spec/replicas", "value": want}})
	if err != nil {
		return fmt.Errorf("encode the scale of %s/%s: %w", d.Namespace, d.Name, err)
	}
	deployments := c.kube.AppsV1().Deployments(d.Namespace)
	if _, err := deployments.Patch(ctx, d.Name, types.JSONPatchType, patch, metav1.PatchOptions{}, "scale"); err != nil {
		return fmt.Errorf("scale Deployment %s/%s to %d: %w", d.Namespace, d.Name, want, err)
	}
	return nil
}
