// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"weir.dev/embedded/node/status"
)

// podClient is the client that pods are written with, also by the library. It
// differs from a plain one in two ways: a status is written as a patch of what
// changed, so that it neither meets conflicts nor reverts what others wrote
// meanwhile; and a pod is deleted only when its containers are gone.
type podClient struct {
	corev1client.PodsGetter
	provider *provider

	mu sync.Mutex
	// written are the statuses as the API has them from us.
	written map[types.UID]corev1.PodStatus
}

// Pods implements corev1client.PodsGetter.
func (c *podClient) Pods(namespace string) corev1client.PodInterface {
	return &namespacedPods{PodInterface: c.PodsGetter.Pods(namespace), namespace: namespace, client: c}
}

type namespacedPods struct {
	corev1client.PodInterface
	namespace string
	client    *podClient
}

// UpdateStatus implements corev1client.PodInterface.
func (n *namespacedPods) UpdateStatus(ctx context.Context, pod *corev1.Pod, _ metav1.UpdateOptions) (*corev1.Pod, error) {
	return n.client.patchStatus(ctx, pod)
}

// Delete implements corev1client.PodInterface.
func (n *namespacedPods) Delete(ctx context.Context, name string, options metav1.DeleteOptions) error {
	running := n.client.provider.byName(n.namespace, name)
	if running == nil {
		return n.PodInterface.Delete(ctx, name, options)
	}
	current, err := n.client.provider.lister.Pods(n.namespace).Get(name)
	if err != nil || current.UID != running.Snapshot().UID {
		return n.PodInterface.Delete(ctx, name, options)
	}
	// Its end deletes it, see finish.
	running.Update(current)
	running.Stop(graceOf(current))
	return nil
}

// patchStatus writes what changed of a pod's status since it was written last.
func (c *podClient) patchStatus(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	base := c.base(pod)
	patch, err := statusPatch(pod, base)
	if err != nil || patch == nil {
		return pod, err
	}
	written, err := c.PodsGetter.Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if apierrors.IsConflict(err) {
		// The name is another pod's by now.
		return pod, nil
	}
	if err != nil {
		return nil, fmt.Errorf("write status of pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.written[pod.UID] = *pod.Status.DeepCopy()
	return written, nil
}

// base is the status in the API as far as it is ours.
func (c *podClient) base(pod *corev1.Pod) corev1.PodStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	if base, ok := c.written[pod.UID]; ok {
		return base
	}
	current, err := c.provider.lister.Pods(pod.Namespace).Get(pod.Name)
	if err != nil || current.UID != pod.UID {
		return corev1.PodStatus{}
	}
	return current.Status
}

// statusPatch is nil if nothing changed. The UID makes it fail for any other pod.
func statusPatch(pod *corev1.Pod, base corev1.PodStatus) ([]byte, error) {
	encode := func(st corev1.PodStatus) ([]byte, error) {
		st.Conditions = slices.DeleteFunc(slices.Clone(st.Conditions), func(c corev1.PodCondition) bool { return !status.Owned(c.Type) })
		return json.Marshal(corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: pod.UID}, Status: st})
	}
	before, err := encode(base)
	if err != nil {
		return nil, fmt.Errorf("encode status: %w", err)
	}
	after, err := encode(pod.Status)
	if err != nil {
		return nil, fmt.Errorf("encode status: %w", err)
	}
	patch, err := strategicpatch.CreateTwoWayMergePatch(before, after, corev1.Pod{})
	if err != nil {
		return nil, fmt.Errorf("compare statuses: %w", err)
	}
	if string(patch) == "{}" {
		return nil, nil
	}
	var fields map[string]any
	if err := json.Unmarshal(patch, &fields); err != nil {
		return nil, fmt.Errorf("read patch: %w", err)
	}
	fields["metadata"] = map[string]any{"uid": pod.UID}
	return json.Marshal(fields)
}

// finish writes the last status of a pod that is gone from this machine and
// deletes it from the API if that was asked for.
func (c *podClient) finish(ctx context.Context, final *corev1.Pod) {
	defer c.forget(final.UID)
	current, err := c.provider.lister.Pods(final.Namespace).Get(final.Name)
	if err != nil || current.UID != final.UID || current.DeletionTimestamp == nil {
		return
	}
	log := c.provider.node.cfg.Log.With("namespace", final.Namespace, "pod", final.Name)
	if _, err := c.patchStatus(ctx, final); err != nil && !apierrors.IsNotFound(err) {
		log.Warn("cannot write last status of pod", "error", err)
	}
	options := *metav1.NewDeleteOptions(0)
	options.Preconditions = metav1.NewUIDPreconditions(string(final.UID))
	err = c.PodsGetter.Pods(final.Namespace).Delete(ctx, final.Name, options)
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		// The library asks again, and then nothing of the pod is left here.
		log.Warn("cannot delete pod that has ended", "error", err)
	}
}

func (c *podClient) forget(uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.written, uid)
}
