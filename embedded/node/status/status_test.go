// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func running(name string, ready bool) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, Ready: ready, Started: ptr.To(true),
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
}

func exited(name string, code int32) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}}
}

func waiting(name string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}}
}

func crashed(name string) corev1.ContainerStatus {
	c := waiting(name)
	c.LastTerminationState = exited(name, 1).State
	return c
}

func TestUpdate(t *testing.T) {
	sidecar := corev1.Container{Name: "side", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}
	cases := map[string]struct {
		reason    string
		policy    corev1.RestartPolicy
		inits     []corev1.Container
		initState []corev1.ContainerStatus
		apps      []corev1.ContainerStatus
		situation Situation
		phase     corev1.PodPhase
		ready     bool
		why       string
	}{
		"starting": {reason: "nothing runs yet", apps: []corev1.ContainerStatus{waiting("a")}, phase: corev1.PodPending, why: "ContainersNotReady"},
		"running":  {reason: "all run and are ready", apps: []corev1.ContainerStatus{running("a", true)}, phase: corev1.PodRunning, ready: true},
		"unready":  {reason: "one is not ready", apps: []corev1.ContainerStatus{running("a", true), running("b", false)}, phase: corev1.PodRunning, why: "ContainersNotReady"},
		"one starts": {reason: "a container that never ran keeps the pod pending",
			apps: []corev1.ContainerStatus{running("a", true), waiting("b")}, phase: corev1.PodPending, why: "ContainersNotReady"},
		"crash loop": {reason: "a pod that restarts its containers is running", apps: []corev1.ContainerStatus{crashed("a")}, phase: corev1.PodRunning, why: "ContainersNotReady"},
		"succeeded":  {reason: "a finished job", policy: corev1.RestartPolicyOnFailure, apps: []corev1.ContainerStatus{exited("a", 0)}, phase: corev1.PodSucceeded, why: "PodCompleted"},
		"failed":     {reason: "never restarted", policy: corev1.RestartPolicyNever, apps: []corev1.ContainerStatus{exited("a", 0), exited("b", 3)}, phase: corev1.PodFailed, why: "PodFailed"},
		"retried":    {reason: "a failed job is tried again", policy: corev1.RestartPolicyOnFailure, apps: []corev1.ContainerStatus{exited("a", 3)}, phase: corev1.PodRunning, why: "ContainersNotReady"},
		"initializing": {reason: "an init container runs", inits: []corev1.Container{{Name: "i"}}, initState: []corev1.ContainerStatus{running("i", false)},
			apps: []corev1.ContainerStatus{waiting("a")}, phase: corev1.PodPending, why: "ContainersNotReady"},
		"init failed": {reason: "and is not tried again", policy: corev1.RestartPolicyNever, inits: []corev1.Container{{Name: "i"}},
			initState: []corev1.ContainerStatus{exited("i", 1)}, apps: []corev1.ContainerStatus{waiting("a")}, phase: corev1.PodFailed, why: "PodFailed"},
		"sidecar": {reason: "a job ends although its sidecar runs", policy: corev1.RestartPolicyNever, inits: []corev1.Container{sidecar},
			initState: []corev1.ContainerStatus{running("side", true)}, apps: []corev1.ContainerStatus{exited("a", 0)}, phase: corev1.PodSucceeded, why: "PodCompleted"},
		"stopped": {reason: "a deleted server that ended well", apps: []corev1.ContainerStatus{exited("a", 0)}, situation: Situation{Stopping: true}, phase: corev1.PodSucceeded, why: "PodCompleted"},
		"killed":  {reason: "a deleted server that was killed", apps: []corev1.ContainerStatus{exited("a", 137)}, situation: Situation{Stopping: true}, phase: corev1.PodFailed, why: "PodFailed"},
		"deadline": {reason: "the pod's time is over", apps: []corev1.ContainerStatus{running("a", true)},
			situation: Situation{Failure: "DeadlineExceeded"}, phase: corev1.PodFailed, why: "PodFailed"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Spec: corev1.PodSpec{RestartPolicy: c.policy, InitContainers: c.inits}}
			for _, app := range c.apps {
				pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: app.Name})
			}
			pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses = c.apps, c.initState
			Update(pod, c.situation)
			if pod.Status.Phase != c.phase {
				t.Errorf("%s: phase %s, want %s", c.reason, pod.Status.Phase, c.phase)
			}
			got := condition(pod, corev1.PodReady)
			if (got.Status == corev1.ConditionTrue) != c.ready || got.Reason != c.why {
				t.Errorf("%s: Ready is %s %q, want %t %q", c.reason, got.Status, got.Reason, c.ready, c.why)
			}
		})
	}
}

func condition(pod *corev1.Pod, kind corev1.PodConditionType) corev1.PodCondition {
	for _, c := range pod.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return corev1.PodCondition{}
}

func TestTransitionsAndForeignConditions(t *testing.T) {
	at := func(s int) metav1.Time { return metav1.NewTime(time.Unix(int64(s), 0)) }
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		Containers:     []corev1.Container{{Name: "a"}},
		ReadinessGates: []corev1.PodReadinessGate{{ConditionType: "example.com/gate"}},
	}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{running("a", true)}
	Update(pod, Situation{Now: at(1)})
	if got := condition(pod, corev1.PodReady); got.Reason != "ReadinessGatesNotReady" || got.LastTransitionTime != at(1) {
		t.Errorf("Ready is %+v", got)
	}
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: "example.com/gate", Status: corev1.ConditionTrue})
	Update(pod, Situation{Now: at(2)})
	if got := condition(pod, corev1.PodReady); got.Status != corev1.ConditionTrue || got.LastTransitionTime != at(2) {
		t.Errorf("Ready is %+v", got)
	}
	if got := condition(pod, corev1.ContainersReady); got.LastTransitionTime != at(1) {
		t.Errorf("ContainersReady changed its time: %+v", got)
	}
	if condition(pod, "example.com/gate").Status != corev1.ConditionTrue {
		t.Error("the gate's condition is gone")
	}
}
