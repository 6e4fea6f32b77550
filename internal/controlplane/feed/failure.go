// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"cmp"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "weir.dev/api/serving/v1"
	"weir.dev/internal/controlplane/kubelet"
)

// failure is why no instance can start: a reason for programs and a message for people. The zero value is none.
type failure struct{ reason, message string }

// or is f, or other where f is none; of two, always the same one whatever the order.
func (f failure) or(other failure) failure {
	first := cmp.Or(cmp.Compare(f.reason, other.reason), cmp.Compare(f.message, other.message)) <= 0
	if other.reason == "" || (f.reason != "" && first) {
		return f
	}
	return other
}

// crashes is how often a container that has not become ready may end before that counts as failing although it has just
// been started once more.
const crashes = 2

// podFailure is why a pod that is not ready does not start, as far as its containers tell.
func podFailure(pod *corev1.Pod) failure {
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			if f := containerFailure(&statuses[i]); f.reason != "" {
				return f
			}
		}
	}
	return failure{}
}

func containerFailure(s *corev1.ContainerStatus) failure {
	if w := s.State.Waiting; w != nil && kubelet.Hopeless(w.Reason) {
		return failure{w.Reason, cmp.Or(w.Message, fmt.Sprintf("container %q is waiting", s.Name))}
	}
	last := s.LastTerminationState.Terminated
	if last == nil || last.ExitCode == 0 || s.Ready || s.RestartCount < crashes || last.Reason == kubelet.ReasonLost {
		return failure{}
	}
	return failure{
		"CrashLoopBackOff",
		cmp.Or(last.Message, fmt.Sprintf("container %q ended %d times, last with exit code %d", s.Name, s.RestartCount, last.ExitCode)),
	}
}

// revisionFailure is why no instance of a revision can start: nothing while one is ready, then what its pods tell, then
// what its conditions tell. Conditions count only if they are about the present attempt, since those of the last failed
// one stay until a start succeeds, and each attempt deserves callers who wait.
func revisionFailure(rev *v1.Revision, pods map[string]instance) failure {
	var newest time.Time
	var found failure
	alive := false
	for _, p := range pods {
		if !p.live {
			continue
		}
		if p.been && p.failure.reason == "" {
			return failure{} // it serves, or is about to again
		}
		alive = true
		found = found.or(p.failure)
		if p.created.After(newest) {
			newest = p.created
		}
	}
	switch {
	case found.reason != "":
		return found
	case alive:
		return conditionFailure(rev, func(c condition) bool {
			// The cluster holds such a revision's callers: room may come (design: Status tells the truth).
			return c.reason != "Unschedulable" && !c.since.Before(newest)
		})
	case rev.Status.DesiredReplicas == nil || *rev.Status.DesiredReplicas > 0:
		// Wanted, or not so far that it could be: the API refuses what instances are made by.
		return conditionFailure(rev, func(c condition) bool { return c.reason == "FailedCreate" || c.reason == "ReplicaSetCreateError" })
	}
	return failure{}
}

type condition struct {
	reason string
	since  time.Time
}

// conditionFailure is the first condition that is False and counts.
func conditionFailure(rev *v1.Revision, counts func(condition) bool) failure {
	for _, t := range []string{string(v1.RevisionConditionContainerHealthy), string(v1.RevisionConditionResourcesAvailable)} {
		for i := range rev.Status.Conditions {
			c := &rev.Status.Conditions[i]
			if string(c.Type) != t || c.Status != corev1.ConditionFalse {
				continue
			}
			if counts(condition{c.Reason, c.LastTransitionTime.Inner.Time}) {
				return failure{cmp.Or(c.Reason, "Failed"), c.Message}
			}
		}
	}
	return failure{}
}
