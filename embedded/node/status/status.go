// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package status computes a pod's phase and conditions from the states of its
// containers, by Kubernetes' rules. Pure: a snapshot and a time in, a value out.
package status

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Situation is what a status is computed from besides the containers.
type Situation struct {
	// SandboxReady says that the pod has its network.
	SandboxReady bool
	// Stopping says that the pod is being deleted, so no container restarts.
	Stopping bool
	// Failure, if set, makes the pod Failed for this reason, such as DeadlineExceeded.
	Failure, FailureMessage string
	Now                     metav1.Time
}

// Update sets phase and conditions of the pod's status, whose container
// statuses are up to date. Conditions that did not change keep their times;
// conditions of others are kept. A pod that has ended stays as it is.
func Update(pod *corev1.Pod, s Situation) {
	st := &pod.Status
	if ended(st.Phase) {
		return
	}
	st.ObservedGeneration = pod.Generation
	st.Phase = phase(pod, s)
	if s.Failure != "" {
		st.Phase, st.Reason, st.Message = corev1.PodFailed, s.Failure, s.FailureMessage
	}
	initialized := initializedCondition(pod)
	containers := containersReady(pod)
	for _, c := range []corev1.PodCondition{
		{Type: corev1.PodReadyToStartContainers, Status: boolean(s.SandboxReady && !ended(st.Phase))},
		initialized,
		readyCondition(pod, containers),
		containers,
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
	} {
		setCondition(pod, c, s.Now)
	}
}

func ended(p corev1.PodPhase) bool { return p == corev1.PodSucceeded || p == corev1.PodFailed }

func boolean(b bool) corev1.ConditionStatus {
	if b {
		return corev1.ConditionTrue
	}
	return corev1.ConditionFalse
}

// IsSidecar says whether an init container runs beside the pod's containers.
func IsSidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// phase is the pod's phase. Sidecars do not count.
func phase(pod *corev1.Pod, s Situation) corev1.PodPhase {
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		if initDone(pod, c) {
			continue
		}
		state := find(pod.Status.InitContainerStatuses, c.Name).State
		failed := state.Terminated != nil && state.Terminated.ExitCode != 0
		if failed && !IsSidecar(c) && (s.Stopping || pod.Spec.RestartPolicy == corev1.RestartPolicyNever) {
			return corev1.PodFailed
		}
		if !s.Stopping {
			return corev1.PodPending
		}
	}
	n := count(pod)
	switch {
	case n.stopped == len(pod.Spec.Containers) && s.Stopping:
		if n.succeeded == n.stopped {
			return corev1.PodSucceeded
		}
		return corev1.PodFailed
	case n.waiting > 0:
		return corev1.PodPending
	case n.running > 0:
		return corev1.PodRunning
	case pod.Spec.RestartPolicy == corev1.RestartPolicyAlways || pod.Spec.RestartPolicy == "":
		return corev1.PodRunning
	case n.succeeded == n.stopped:
		return corev1.PodSucceeded
	case pod.Spec.RestartPolicy == corev1.RestartPolicyNever:
		return corev1.PodFailed
	}
	return corev1.PodRunning
}

type counts struct{ waiting, running, stopped, succeeded int }

func count(pod *corev1.Pod) counts {
	var n counts
	for i := range pod.Spec.Containers {
		c := find(pod.Status.ContainerStatuses, pod.Spec.Containers[i].Name)
		switch {
		case c.State.Running != nil:
			n.running++
		case c.State.Terminated != nil:
			n.stopped++
			if c.State.Terminated.ExitCode == 0 {
				n.succeeded++
			}
		case c.LastTerminationState.Terminated != nil:
			// It waits for its next start.
			n.stopped++
		default:
			n.waiting++
		}
	}
	return n
}

func find(list []corev1.ContainerStatus, name string) corev1.ContainerStatus {
	i := slices.IndexFunc(list, func(c corev1.ContainerStatus) bool { return c.Name == name })
	if i < 0 {
		return corev1.ContainerStatus{}
	}
	return list[i]
}

// initDone says whether the next container may start.
func initDone(pod *corev1.Pod, c *corev1.Container) bool {
	st := find(pod.Status.InitContainerStatuses, c.Name)
	if IsSidecar(c) {
		return st.Started != nil && *st.Started
	}
	return st.State.Terminated != nil && st.State.Terminated.ExitCode == 0
}

func initializedCondition(pod *corev1.Pod) corev1.PodCondition {
	condition := corev1.PodCondition{Type: corev1.PodInitialized, Status: corev1.ConditionTrue}
	var open []string
	for i := range pod.Spec.InitContainers {
		if c := &pod.Spec.InitContainers[i]; !initDone(pod, c) {
			open = append(open, c.Name)
		}
	}
	switch {
	case pod.Status.Phase == corev1.PodSucceeded:
		condition.Reason = "PodCompleted"
	case len(open) > 0:
		condition.Status, condition.Reason = corev1.ConditionFalse, "ContainersNotInitialized"
		condition.Message = fmt.Sprintf("containers with incomplete status: %s", list(open))
	}
	return condition
}

func containersReady(pod *corev1.Pod) corev1.PodCondition {
	condition := corev1.PodCondition{Type: corev1.ContainersReady, Status: corev1.ConditionFalse}
	switch pod.Status.Phase {
	case corev1.PodSucceeded:
		condition.Reason = "PodCompleted"
		return condition
	case corev1.PodFailed:
		condition.Reason = "PodFailed"
		return condition
	}
	var unready []string
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		if IsSidecar(c) && !find(pod.Status.InitContainerStatuses, c.Name).Ready {
			unready = append(unready, c.Name)
		}
	}
	for i := range pod.Spec.Containers {
		if name := pod.Spec.Containers[i].Name; !find(pod.Status.ContainerStatuses, name).Ready {
			unready = append(unready, name)
		}
	}
	if len(unready) > 0 {
		condition.Reason = "ContainersNotReady"
		condition.Message = fmt.Sprintf("containers with unready status: %s", list(unready))
		return condition
	}
	condition.Status = corev1.ConditionTrue
	return condition
}

func list(names []string) string { return "[" + strings.Join(names, " ") + "]" }

// readyCondition adds the pod's readiness gates.
func readyCondition(pod *corev1.Pod, containers corev1.PodCondition) corev1.PodCondition {
	ready := containers
	ready.Type = corev1.PodReady
	if ready.Status != corev1.ConditionTrue {
		return ready
	}
	for _, gate := range pod.Spec.ReadinessGates {
		i := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == gate.ConditionType })
		if i < 0 || pod.Status.Conditions[i].Status != corev1.ConditionTrue {
			ready.Status, ready.Reason = corev1.ConditionFalse, "ReadinessGatesNotReady"
			ready.Message = fmt.Sprintf("the status of pod readiness gate %q is not \"True\"", gate.ConditionType)
		}
	}
	return ready
}

// IsReady says whether st has the pod Ready.
func IsReady(st *corev1.PodStatus) bool {
	return slices.ContainsFunc(st.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// Owned says whether a condition is this node's to set.
func Owned(t corev1.PodConditionType) bool {
	switch t {
	case corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled:
		return true
	}
	return false
}

func setCondition(pod *corev1.Pod, c corev1.PodCondition, now metav1.Time) {
	c.ObservedGeneration = pod.Generation
	conditions := &pod.Status.Conditions
	i := slices.IndexFunc(*conditions, func(old corev1.PodCondition) bool { return old.Type == c.Type })
	if i < 0 {
		c.LastTransitionTime = now
		*conditions = append(*conditions, c)
		return
	}
	c.LastTransitionTime = (*conditions)[i].LastTransitionTime
	if (*conditions)[i].Status != c.Status {
		c.LastTransitionTime = now
	}
	(*conditions)[i] = c
}
