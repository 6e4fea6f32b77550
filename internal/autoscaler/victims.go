// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package autoscaler

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"weir.dev/pkg/logging"
)

const (
	// victimCost makes the ReplicaSet controller prefer a pod when it removes some; others cost 0.
	victimCost = "-1"
	// victimsMost bounds the writes before one scaling.
	victimsMost = 50
)

// markVictims has the least busy pods removed first. It is best effort: a scaling does not wait for it to succeed.
func (c *cluster) markVictims(ctx context.Context, pods []*corev1.Pod, count int, inHand map[string]uint32) {
	for _, m := range markings(pods, min(count, victimsMost), inHand) {
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
			"annotations": map[string]any{corev1.PodDeletionCost: m.cost},
		}})
		if err == nil {
			_, err = c.kube.CoreV1().Pods(m.pod.Namespace).
				Patch(ctx, m.pod.Name, types.MergePatchType, patch, metav1.PatchOptions{})
		}
		if err != nil {
			logging.FromContext(ctx).Debugw("Cannot mark a pod for removal", "pod", m.pod.Name, "error", err)
		}
	}
}

// marking is a change of a pod's deletion cost; nil removes it.
type marking struct {
	pod  *corev1.Pod
	cost any
}

// markings is pure: which pods' costs must change so that the least busy ones go. Where all are equally busy none need.
func markings(pods []*corev1.Pod, count int, inHand map[string]uint32) []marking {
	load := func(p *corev1.Pod) uint32 { return inHand[string(p.UID)] }
	if len(pods) <= count || !slices.ContainsFunc(pods, func(p *corev1.Pod) bool { return load(p) != load(pods[0]) }) {
		return nil
	}
	sorted := slices.SortedFunc(slices.Values(pods), func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(load(a), load(b)), cmp.Compare(a.UID, b.UID))
	})
	var out []marking
	for i, pod := range sorted {
		marked := pod.Annotations[corev1.PodDeletionCost] == victimCost
		switch {
		case i < count && !marked:
			out = append(out, marking{pod, victimCost})
		case i >= count && marked:
			out = append(out, marking{pod, nil})
		}
	}
	return out
}
