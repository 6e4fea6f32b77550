// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"net"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"weir.dev/internal/feed/feedpb"
)

// userPortName is the name that the user's port has on pods of revisions.
const userPortName = "user-port"

// instance is what the feed knows of one pod.
type instance struct {
	pb *feedpb.Instance // nil while it has no address, or is over

	// been says that it was ready once: afterwards only its own condition counts.
	been bool
	// created and live are what failures are judged by.
	created time.Time
	live    bool
	// failure is why it cannot start, as far as the pod tells.
	failure failure
}

// translatePod is the instance that a pod is. been says whether it was ready before.
func translatePod(pod *corev1.Pod, been bool) instance {
	over := pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
	ready := podReady(pod)
	out := instance{
		been: been || ready, created: pod.CreationTimestamp.Time, live: !over && pod.DeletionTimestamp == nil,
	}
	if out.live && !ready {
		out.failure = podFailure(pod)
	}
	if over || pod.Status.PodIP == "" {
		return out
	}
	out.pb = &feedpb.Instance{
		Name: pod.Name, Uid: string(pod.UID), State: state(pod, ready, out.been),
		Address: net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(int(userPort(pod)))),
	}
	return out
}

func state(pod *corev1.Pod, ready, been bool) feedpb.Instance_State {
	switch {
	case pod.DeletionTimestamp != nil:
		return feedpb.Instance_TERMINATING
	case ready:
		return feedpb.Instance_READY
	case been:
		return feedpb.Instance_NOT_READY
	}
	return feedpb.Instance_STARTING
}

func podReady(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func userPort(pod *corev1.Pod) int32 {
	for i := range pod.Spec.Containers {
		for _, port := range pod.Spec.Containers[i].Ports {
			if port.Name == userPortName {
				return port.ContainerPort
			}
		}
	}
	return defaultPort
}
