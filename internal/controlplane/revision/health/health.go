// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package health decides from a Deployment and its pods whether a Revision can serve, and if not, why: pure, from a
// snapshot and a time. It knows pods, not Revisions; the revision reconciler writes its findings into conditions.
//
// What cannot heal by waiting alone (an image that cannot be pulled, a crash, a missing Secret) is found at once and not only
// at the progress deadline; what may just need time is found at the deadline.
package health

import (
	"cmp"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// Reasons that are not copied from the cluster's own.
const (
	// ReasonNotReady is the reason of a container that runs and whose readiness probe does not succeed.
	ReasonNotReady = "ReadinessProbeFailed"
	// ReasonDeadline is the reason of a start that took too long for no visible cause.
	ReasonDeadline = "ProgressDeadlineExceeded"
)

// Snapshot is what is known of one Revision's instances.
type Snapshot struct {
	Deployment *appsv1.Deployment
	// Pods are those of the Deployment; terminating ones are ignored.
	Pods []*corev1.Pod
	// AlwaysSchedulable says that nodes come when pods need them: unschedulable is then Unknown until the deadline.
	AlwaysSchedulable bool
	// Deadline is how long an instance may take to become ready.
	Deadline time.Duration
	// Overdue says that the first start as a whole took longer than Deadline: every instance's time is up, however young.
	Overdue bool
	Now     time.Time
}

// Finding is the cause why no instance serves.
type Finding struct {
	Reason, Message string
	// Container is true where the user's container is at fault, false where something it needs is missing.
	Container bool
	// Waiting is true where the cause may yet pass on its own: Unknown, not False.
	Waiting bool
}

// Verdict is the outcome. Its zero value means: nothing serves, and nothing is known to be wrong.
type Verdict struct {
	// Serving is true while at least one instance is ready.
	Serving bool
	// Wanted is true while the Deployment is to have instances.
	Wanted bool
	// Finding is the gravest cause why none is ready; nil if none is known (yet) or if Serving or not Wanted.
	Finding *Finding
	// Recheck is the time until the verdict may change although no object does; 0 is never.
	Recheck time.Duration
}

// Judge returns the verdict on s.
func Judge(s Snapshot) Verdict {
	pods := live(s.Pods)
	s.Overdue = s.Overdue || timedOut(s.Deployment)
	v := Verdict{
		Wanted:  s.Deployment.Spec.Replicas == nil || *s.Deployment.Spec.Replicas > 0,
		Serving: slices.ContainsFunc(pods, ready) || (len(pods) == 0 && s.Deployment.Status.ReadyReplicas > 0),
	}
	if v.Serving || !v.Wanted {
		return v
	}
	for _, pod := range pods {
		f, left := s.judge(pod)
		if v.Recheck == 0 || (left > 0 && left < v.Recheck) {
			v.Recheck = left
		}
		if f != nil && (v.Finding == nil || graver(f, v.Finding)) {
			v.Finding = f
		}
	}
	return v
}

// graver orders findings: failures before what may pass, the container's before the platform's.
func graver(a, b *Finding) bool {
	if a.Waiting != b.Waiting {
		return b.Waiting
	}
	return a.Container && !b.Container
}

// judge looks at one pod that is not ready. left is the time to its deadline if that is still ahead.
func (s Snapshot) judge(pod *corev1.Pod) (f *Finding, left time.Duration) {
	if !s.Overdue {
		left = max(0, s.Deadline-s.Now.Sub(waitingSince(pod)))
	}
	expired := left == 0
	for _, find := range []func(*corev1.Pod, bool) *Finding{s.unscheduled, ended, failing, blocked} {
		if f := find(pod, expired); f != nil {
			return f, left
		}
	}
	if expired {
		return unready(pod, s.Deadline), 0
	}
	f, until := slow(pod, s.Now)
	if f == nil && until > 0 {
		left = min(left, until)
	}
	return f, left
}

// timedOut says whether the Deployment has given up waiting for its instances.
func timedOut(d *appsv1.Deployment) bool {
	return slices.ContainsFunc(d.Status.Conditions, func(c appsv1.DeploymentCondition) bool {
		return c.Type == appsv1.DeploymentProgressing && c.Status == corev1.ConditionFalse
	})
}

// unscheduled finds a pod for which there is no node.
func (s Snapshot) unscheduled(pod *corev1.Pod, expired bool) *Finding {
	c := condition(pod, corev1.PodScheduled)
	if c == nil || c.Status != corev1.ConditionFalse {
		return nil
	}
	return &Finding{Reason: c.Reason, Message: c.Message, Waiting: s.AlwaysSchedulable && !expired}
}

// waitingSince is when pod last stopped being ready, or its creation.
func waitingSince(pod *corev1.Pod) time.Time {
	if c := condition(pod, corev1.PodReady); c != nil && c.LastTransitionTime.After(pod.CreationTimestamp.Time) {
		return c.LastTransitionTime.Time
	}
	return pod.CreationTimestamp.Time
}

// live returns the pods that are not being deleted, the oldest first.
func live(pods []*corev1.Pod) []*corev1.Pod {
	kept := make([]*corev1.Pod, 0, len(pods))
	for _, p := range pods {
		if p.DeletionTimestamp == nil {
			kept = append(kept, p)
		}
	}
	slices.SortFunc(kept, func(a, b *corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return kept
}

func ready(pod *corev1.Pod) bool {
	c := condition(pod, corev1.PodReady)
	return c != nil && c.Status == corev1.ConditionTrue
}

func condition(pod *corev1.Pod, t corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == t {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}
