// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const deadline = time.Minute

func deployment(replicas, ready int32) *appsv1.Deployment {
	return &appsv1.Deployment{
		Spec:   appsv1.DeploymentSpec{Replicas: &replicas},
		Status: appsv1.DeploymentStatus{ReadyReplicas: ready},
	}
}

func pod(status corev1.ContainerStatus, conditions ...corev1.PodCondition) *corev1.Pod {
	status.Name = "user-container"
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", CreationTimestamp: metav1.NewTime(start)},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "user-container",
			ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
				TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(8080)},
			}},
		}}},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{status}, Conditions: conditions},
	}
}

func waits(reason, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{State: corev1.ContainerState{
		Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message},
	}}
}

func exited(code int32, reason, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{LastTerminationState: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, Message: message},
	}}
}

// runs is a container that was started 30 seconds after its pod was made.
func runs() corev1.ContainerStatus {
	return corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{
		StartedAt: metav1.NewTime(start.Add(30 * time.Second)),
	}}}
}

func unschedulable() corev1.PodCondition {
	return corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "Insufficient cpu",
	}
}

func isReady(at time.Time, status corev1.ConditionStatus) corev1.PodCondition {
	return corev1.PodCondition{Type: corev1.PodReady, Status: status, LastTransitionTime: metav1.NewTime(at)}
}

func TestJudge(t *testing.T) {
	deleted := pod(exited(1, "Error", "boom"))
	deleted.DeletionTimestamp = &metav1.Time{Time: start}
	initFailed := pod(waits("PodInitializing", ""))
	initFailed.Status.InitContainerStatuses = []corev1.ContainerStatus{exited(3, "Error", "no database")}
	initDone := pod(runs())
	initDone.Status.InitContainerStatuses = []corev1.ContainerStatus{exited(0, "Completed", "")}

	tests := map[string]struct {
		reason            string
		replicas          int32
		pods              []*corev1.Pod
		alwaysSchedulable bool
		after             time.Duration
		overdue           bool
		timedOut          bool
		want              Verdict
	}{
		"scaled to zero": {
			reason: "nothing is wanted, so nothing is wrong, whatever happened before",
			want:   Verdict{},
		},
		"one ready beside a crashed one": {
			reason:   "a revision that serves is healthy",
			replicas: 2,
			pods:     []*corev1.Pod{pod(exited(1, "Error", "boom")), pod(runs(), isReady(start, corev1.ConditionTrue))},
			want:     Verdict{Serving: true, Wanted: true},
		},
		"starting": {
			reason:   "a creating container is no finding before the deadline, which is when to look again",
			replicas: 1,
			pods:     []*corev1.Pod{pod(waits("ContainerCreating", ""))},
			after:    20 * time.Second,
			want:     Verdict{Wanted: true, Recheck: 40 * time.Second},
		},
		"waiting for a volume": {
			reason:   "what the node says is told at once, as something that may yet pass",
			replicas: 1,
			pods:     []*corev1.Pod{pod(waits("ContainerCreating", `secret "s" not found`))},
			after:    time.Second,
			want: Verdict{Wanted: true, Recheck: 59 * time.Second, Finding: &Finding{
				Reason: "ContainerCreating", Message: `secret "s" not found`, Waiting: true,
			}},
		},
		"creating at the deadline": {
			reason:   "every Unknown ends",
			replicas: 1,
			pods:     []*corev1.Pod{pod(waits("ContainerCreating", ""))},
			after:    deadline,
			want: Verdict{Wanted: true, Finding: &Finding{
				Reason: "ContainerCreating", Message: `Container "user-container" is waiting.`,
			}},
		},
		"image cannot be pulled": {
			reason:   "shown at once, not at the deadline",
			replicas: 1,
			pods:     []*corev1.Pod{pod(waits("ErrImagePull", "not found"))},
			after:    time.Second,
			want: Verdict{
				Wanted: true, Recheck: 59 * time.Second,
				Finding: &Finding{Reason: "ErrImagePull", Message: "not found"},
			},
		},
		"crash": {
			reason:   "the exit code is the reason and the termination message the message",
			replicas: 1,
			pods:     []*corev1.Pod{pod(exited(42, "Error", "cannot bind\n"))},
			want: Verdict{
				Wanted: true, Recheck: deadline,
				Finding: &Finding{Reason: "ExitCode42", Message: "Container failed with: cannot bind", Container: true},
			},
		},
		"lost with its node": {
			reason:   "the machine was restarted: no fault of the program, which is about to start",
			replicas: 1,
			pods:     []*corev1.Pod{pod(exited(137, "ContainerStatusUnknown", "could not be located"))},
			want:     Verdict{Wanted: true, Recheck: deadline},
		},
		"out of memory": {
			reason:   "without a message the runtime's reason says what happened",
			replicas: 1,
			pods:     []*corev1.Pod{pod(exited(137, "OOMKilled", ""))},
			want: Verdict{
				Wanted: true, Recheck: deadline,
				Finding: &Finding{Reason: "ExitCode137", Message: "Container failed with: OOMKilled", Container: true},
			},
		},
		"exits with success": {
			reason:   "a serving program is not to end",
			replicas: 1,
			pods:     []*corev1.Pod{pod(exited(0, "Completed", ""))},
			want: Verdict{
				Wanted: true, Recheck: deadline,
				Finding: &Finding{
					Reason: "ExitCode0", Message: "Container failed with: container exited with no error", Container: true,
				},
			},
		},
		"init container fails": {
			reason:   "nothing else starts until it succeeds",
			replicas: 1,
			pods:     []*corev1.Pod{initFailed},
			want: Verdict{
				Wanted: true, Recheck: deadline,
				Finding: &Finding{Reason: "ExitCode3", Message: "Container failed with: no database", Container: true},
			},
		},
		"init container done": {
			reason:   "ending is what an init container is for",
			replicas: 1,
			pods:     []*corev1.Pod{initDone},
			after:    30 * time.Second,
			want:     Verdict{Wanted: true, Recheck: 5 * time.Second},
		},
		"runs for a while": {
			reason:   "what is waited for is told before the deadline, as something that may yet pass",
			replicas: 1,
			pods:     []*corev1.Pod{pod(runs())},
			after:    35 * time.Second,
			want: Verdict{Wanted: true, Recheck: 25 * time.Second, Finding: &Finding{
				Reason: ReasonNotReady, Container: true, Waiting: true,
				Message: `Container "user-container" runs, but its readiness probe (TCP connection to port 8080) has not succeeded yet.`,
			}},
		},
		"terminating pod": {
			reason:   "it says nothing about the next one",
			replicas: 1,
			pods:     []*corev1.Pod{deleted},
			want:     Verdict{Wanted: true},
		},
		"unschedulable": {
			reason:   "False at once where nodes are what they are",
			replicas: 1,
			pods:     []*corev1.Pod{pod(corev1.ContainerStatus{}, unschedulable())},
			want: Verdict{
				Wanted: true, Recheck: deadline,
				Finding: &Finding{Reason: "Unschedulable", Message: "Insufficient cpu"},
			},
		},
		"unschedulable, nodes come": {
			reason:            "Unknown until the deadline where a node may come",
			replicas:          1,
			pods:              []*corev1.Pod{pod(corev1.ContainerStatus{}, unschedulable())},
			alwaysSchedulable: true,
			want: Verdict{
				Wanted: true, Recheck: deadline,
				Finding: &Finding{Reason: "Unschedulable", Message: "Insufficient cpu", Waiting: true},
			},
		},
		"unschedulable, no node came": {
			reason:            "False at the deadline",
			replicas:          1,
			pods:              []*corev1.Pod{pod(corev1.ContainerStatus{}, unschedulable())},
			alwaysSchedulable: true,
			after:             deadline,
			want:              Verdict{Wanted: true, Finding: &Finding{Reason: "Unschedulable", Message: "Insufficient cpu"}},
		},
		"wrong port": {
			reason:   "a program that runs and never answers its probe is named as the cause at the deadline",
			replicas: 1,
			pods:     []*corev1.Pod{pod(runs())},
			after:    deadline + time.Second,
			want: Verdict{Wanted: true, Finding: &Finding{
				Reason: ReasonNotReady, Container: true,
				Message: `Container "user-container" runs, but its readiness probe (TCP connection to port 8080) ` +
					`did not succeed within 1m0s.`,
			}},
		},
		"wrong port, seen when the first start as a whole is overdue": {
			reason:   "the instance's own time is not up yet, but the Revision's is: the cause is named all the same",
			replicas: 1,
			pods:     []*corev1.Pod{pod(runs())},
			after:    deadline - time.Millisecond,
			overdue:  true,
			want: Verdict{Wanted: true, Finding: &Finding{
				Reason: ReasonNotReady, Container: true,
				Message: `Container "user-container" runs, but its readiness probe (TCP connection to port 8080) ` +
					`did not succeed within 1m0s.`,
			}},
		},
		"still waiting when the Deployment gave up": {
			reason:   "the Deployment's time-out names no cause, what the container waits for does",
			replicas: 1,
			pods:     []*corev1.Pod{pod(waits("ContainerCreating", "volume is not there"))},
			after:    deadline - time.Millisecond,
			timedOut: true,
			want:     Verdict{Wanted: true, Finding: &Finding{Reason: "ContainerCreating", Message: "volume is not there"}},
		},
		"was ready, is not": {
			reason:   "the deadline counts from when the pod stopped being ready",
			replicas: 1,
			pods:     []*corev1.Pod{pod(runs(), isReady(start.Add(time.Hour), corev1.ConditionFalse))},
			after:    time.Hour + 10*time.Second,
			want: Verdict{Wanted: true, Recheck: 50 * time.Second, Finding: &Finding{
				Reason: ReasonNotReady, Container: true, Waiting: true,
				Message: `Container "user-container" runs, but its readiness probe (TCP connection to port 8080) has not succeeded yet.`,
			}},
		},
		"the gravest of several": {
			reason:            "the container's fault is told before what the platform lacks",
			replicas:          3,
			alwaysSchedulable: true,
			pods: []*corev1.Pod{
				pod(corev1.ContainerStatus{}, unschedulable()), pod(waits("ErrImagePull", "")), pod(exited(1, "Error", "boom")),
			},
			want: Verdict{
				Wanted: true, Recheck: deadline,
				Finding: &Finding{Reason: "ExitCode1", Message: "Container failed with: boom", Container: true},
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := deployment(tc.replicas, 0)
			if tc.timedOut {
				d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse}}
			}
			got := Judge(Snapshot{
				Deployment:        d,
				Overdue:           tc.overdue,
				Pods:              tc.pods,
				AlwaysSchedulable: tc.alwaysSchedulable,
				Deadline:          deadline,
				Now:               start.Add(tc.after),
			})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
