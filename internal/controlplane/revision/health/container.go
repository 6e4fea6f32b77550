// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"weir.dev/internal/controlplane/kubelet"
)

// ended finds a container that ran and ended: a serving program is not to end.
func ended(pod *corev1.Pod, _ bool) *Finding {
	for i := range pod.Status.ContainerStatuses {
		if t := termination(&pod.Status.ContainerStatuses[i]); t != nil && t.Reason != kubelet.ReasonLost {
			return exit(t)
		}
	}
	for i := range pod.Status.InitContainerStatuses {
		if t := termination(&pod.Status.InitContainerStatuses[i]); t != nil && t.ExitCode != 0 && t.Reason != kubelet.ReasonLost {
			return exit(t)
		}
	}
	if pod.Status.Phase == corev1.PodFailed {
		return &Finding{Reason: cmp.Or(pod.Status.Reason, "PodFailed"), Message: pod.Status.Message}
	}
	return nil
}

// termination returns how the newest run of a container ended, nil while its first one has not.
func termination(s *corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	if s.State.Terminated != nil {
		return s.State.Terminated
	}
	return s.LastTerminationState.Terminated
}

func exit(t *corev1.ContainerStateTerminated) *Finding {
	message := strings.TrimSpace(t.Message) // a sentence goes on after it
	switch {
	case message != "":
	case t.ExitCode == 0:
		message = "container exited with no error"
	case t.Reason != "" && t.Reason != "Error":
		message = t.Reason
	default:
		message = fmt.Sprintf("exit code %d", t.ExitCode)
	}
	return &Finding{
		Reason:    "ExitCode" + strconv.Itoa(int(t.ExitCode)),
		Message:   "Container failed with: " + message,
		Container: true,
	}
}

// failing finds a container that waits for what will not come by itself.
func failing(pod *corev1.Pod, _ bool) *Finding {
	return waiting(pod, kubelet.Hopeless)
}

// blocked finds, at the deadline, a container that still waits for anything.
func blocked(pod *corev1.Pod, expired bool) *Finding {
	if !expired {
		return nil
	}
	return waiting(pod, func(string) bool { return true })
}

// waiting finds the first container, init containers first, that waits with a reason that counts.
func waiting(pod *corev1.Pod, counts func(reason string) bool) *Finding {
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			w := statuses[i].State.Waiting
			if w == nil || w.Reason == "PodInitializing" || !counts(w.Reason) {
				continue
			}
			message := cmp.Or(w.Message, fmt.Sprintf("Container %q is waiting.", statuses[i].Name))
			return &Finding{Reason: cmp.Or(w.Reason, ReasonDeadline), Message: message}
		}
	}
	return nil
}

// unready says what keeps a pod from being ready whose containers all run, or of which nothing is known.
func unready(pod *corev1.Pod, deadline time.Duration) *Finding {
	for i := range pod.Status.ContainerStatuses {
		s := &pod.Status.ContainerStatuses[i]
		if s.State.Running == nil || s.Ready {
			continue
		}
		return &Finding{
			Reason: ReasonNotReady,
			Message: fmt.Sprintf("Container %q runs, but its readiness probe (%s) did not succeed within %s.",
				s.Name, probe(pod, s.Name), deadline),
			Container: true,
		}
	}
	return &Finding{Reason: ReasonDeadline, Message: fmt.Sprintf("Pod %q was not ready within %s.", pod.Name, deadline)}
}

// patience is how long a container may run before it is said that its probe does not succeed.
const patience = 5 * time.Second

// slow finds a container that has been running for a while and is not ready, or whose node says what keeps it from starting.
// Either may yet pass: before the deadline a person already learns what is waited for. until is the time to the next look; 0 is
// never.
func slow(pod *corev1.Pod, now time.Time) (f *Finding, until time.Duration) {
	for i := range pod.Status.ContainerStatuses {
		s := &pod.Status.ContainerStatuses[i]
		if w := s.State.Waiting; w != nil && w.Message != "" {
			return &Finding{Reason: cmp.Or(w.Reason, ReasonDeadline), Message: w.Message, Waiting: true}, 0
		}
		if s.State.Running == nil || s.Ready {
			continue
		}
		if left := patience - now.Sub(s.State.Running.StartedAt.Time); left > 0 {
			if until == 0 || left < until {
				until = left
			}
			continue
		}
		return &Finding{
			Reason:    ReasonNotReady,
			Message:   fmt.Sprintf("Container %q runs, but its readiness probe (%s) has not succeeded yet.", s.Name, probe(pod, s.Name)),
			Container: true, Waiting: true,
		}, 0
	}
	return nil, until
}

// probe describes the readiness probe of the named container.
func probe(pod *corev1.Pod, name string) string {
	i := slices.IndexFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == name })
	if i < 0 || pod.Spec.Containers[i].ReadinessProbe == nil {
		return "none"
	}
	switch p := pod.Spec.Containers[i].ReadinessProbe; {
	case p.TCPSocket != nil:
		return "TCP connection to port " + p.TCPSocket.Port.String()
	case p.HTTPGet != nil:
		return "HTTP GET " + p.HTTPGet.Path + " on port " + p.HTTPGet.Port.String()
	case p.GRPC != nil:
		return "gRPC health check on port " + strconv.Itoa(int(p.GRPC.Port))
	default:
		return "command"
	}
}
