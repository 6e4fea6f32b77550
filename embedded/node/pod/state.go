// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/reference"

	noderecord "weir.dev/embedded/node/record"
	"weir.dev/embedded/node/status"
)

// Reasons of containers that wait for no more than their turn.
const (
	creating     = "ContainerCreating"
	initializing = "PodInitializing"
)

// reset makes the status that of a pod which is just starting. What the API
// says about earlier containers of this pod (the machine was restarted) is kept
// as their count of restarts.
func (p *Pod) reset() {
	st := &p.pod.Status
	if p.pod.Spec.RestartPolicy == corev1.RestartPolicyNever && everRan(st) {
		p.giveUp()
		return
	}
	begin := func(old []corev1.ContainerStatus, specs []corev1.Container, reason string) []corev1.ContainerStatus {
		var fresh []corev1.ContainerStatus
		for i := range specs {
			c := corev1.ContainerStatus{Name: specs[i].Name, Image: specs[i].Image, Started: new(bool)}
			c.State.Waiting = &corev1.ContainerStateWaiting{Reason: reason}
			j := slices.IndexFunc(old, func(o corev1.ContainerStatus) bool { return o.Name == c.Name })
			if j >= 0 && old[j].ContainerID != "" {
				c.RestartCount = old[j].RestartCount + 1
				c.LastTerminationState = lost(old[j])
				p.containers[c.Name] = noderecord.Container{Attempt: int(old[j].RestartCount)}
			}
			fresh = append(fresh, c)
		}
		return fresh
	}
	first := creating
	if len(p.pod.Spec.InitContainers) > 0 {
		first = initializing
	}
	st.InitContainerStatuses = begin(st.InitContainerStatuses, p.pod.Spec.InitContainers, initializing)
	st.ContainerStatuses = begin(st.ContainerStatuses, p.pod.Spec.Containers, first)
	st.PodIP, st.PodIPs = "", nil
	if st.StartTime == nil {
		now := metav1.Now()
		st.StartTime = &now
	}
	if p.cfg.Node.IP.IsValid() {
		st.HostIP = p.cfg.Node.IP.String()
		st.HostIPs = []corev1.HostIP{{IP: st.HostIP}}
	}
}

func everRan(st *corev1.PodStatus) bool {
	ran := func(c corev1.ContainerStatus) bool { return c.ContainerID != "" }
	return slices.ContainsFunc(st.ContainerStatuses, ran) || slices.ContainsFunc(st.InitContainerStatuses, ran)
}

// giveUp fails a pod whose containers are gone and must not run twice.
func (p *Pod) giveUp() {
	p.failure, p.failureMessage = "Terminated", "Pod was terminated when its node was stopped, and it is never restarted"
	for _, list := range [][]corev1.ContainerStatus{p.pod.Status.InitContainerStatuses, p.pod.Status.ContainerStatuses} {
		for i := range list {
			list[i].State = lost(list[i])
			list[i].Ready, list[i].Started = false, new(bool)
		}
	}
}

// lost is the last state of a container that went with its machine.
func lost(old corev1.ContainerStatus) corev1.ContainerState {
	if old.State.Terminated != nil {
		return old.State
	}
	terminated := &corev1.ContainerStateTerminated{
		ExitCode: 137, Reason: "ContainerStatusUnknown", ContainerID: old.ContainerID,
		Message: "The container could not be located when the pod was started again",
	}
	if old.State.Running != nil {
		terminated.StartedAt = old.State.Running.StartedAt
	}
	return corev1.ContainerState{Terminated: terminated}
}

// update changes the status, saves the pod and has it published.
func (p *Pod) update(change func(st *corev1.PodStatus)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.pod.Status.DeepCopy()
	change(&p.pod.Status)
	p.compute()
	if equality.Semantic.DeepEqual(before, &p.pod.Status) {
		return
	}
	p.save()
	p.Republish()
}

// touch computes the status anew, for what is not part of it.
func (p *Pod) touch() { p.update(func(*corev1.PodStatus) {}) }

func (p *Pod) compute() {
	status.Update(p.pod, status.Situation{
		SandboxReady: p.networked, Stopping: p.stop.requested(),
		Failure: p.failure, FailureMessage: p.failureMessage,
		Now: metav1.Now(),
	})
}

// publish publishes changes until ctx ends, and what is left of them then. No write is broken off: the next would only have
// to say the same again.
func (p *Pod) publish(ctx context.Context) {
	const first, longest = 50 * time.Millisecond, 5 * time.Second
	var published corev1.PodStatus
	for pause := first; ; {
		select {
		case <-p.changed:
			p.gather(ctx, &published)
		case <-ctx.Done():
			select {
			case <-p.changed:
			default:
				return
			}
		}
		current := p.take()
		err := p.write(ctx, current)
		switch {
		case err == nil:
			pause, published = first, current.Status
		case ctx.Err() != nil:
			return
		default:
			p.Republish()
			wait(ctx, pause)
			pause = min(2*pause, longest)
		}
	}
}

// write publishes once. The API may take its time for that, but not much of it once ctx has ended.
func (p *Pod) write(ctx context.Context, current *corev1.Pod) error {
	const patience, last = 30 * time.Second, 2 * time.Second
	writing, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	hurry := context.AfterFunc(ctx, func() {
		wait(writing, last)
		cancel()
	})
	defer hurry()
	return p.cfg.Publish(writing, current)
}

// take returns the pod with all changes that were announced so far.
func (p *Pod) take() *corev1.Pod {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.changed:
	default:
	}
	return p.pod.DeepCopy()
}

// gather waits a moment for more changes, so that a start is a few writes and not one for each of its steps: writes, and what
// everybody who watches pods does about them, compete with the start itself. What others wait for does not wait.
func (p *Pod) gather(ctx context.Context, published *corev1.PodStatus) {
	const moment = 100 * time.Millisecond
	enough := time.NewTimer(moment)
	defer enough.Stop()
	for !pressing(&p.Snapshot().Status, published) {
		select {
		case <-p.changed:
		case <-enough.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// pressing says whether traffic, a controller or a person acts on what is new in the status: the pod has its address, which
// gateways dial before it is ready; it became ready or stopped being so; something ended or cannot start.
func pressing(st, published *corev1.PodStatus) bool {
	tells := func(c corev1.ContainerStatus) bool {
		w := c.State.Waiting
		return c.State.Terminated != nil || w != nil && w.Reason != creating && w.Reason != initializing
	}
	return st.PodIP != published.PodIP || status.IsReady(st) != status.IsReady(published) || runs(st) != runs(published) ||
		slices.ContainsFunc(st.InitContainerStatuses, tells) || slices.ContainsFunc(st.ContainerStatuses, tells)
}

// runs counts what was started again.
func runs(st *corev1.PodStatus) (n int32) {
	for _, list := range [][]corev1.ContainerStatus{st.InitContainerStatuses, st.ContainerStatuses} {
		for i := range list {
			n += list[i].RestartCount
		}
	}
	return n
}

func (p *Pod) setIP(ip netip.Addr) {
	p.mu.Lock()
	p.networked = true
	p.mu.Unlock()
	p.update(func(st *corev1.PodStatus) {
		st.PodIP = ip.String()
		st.PodIPs = []corev1.PodIP{{IP: st.PodIP}}
	})
}

// ip is the pod's address.
func (p *Pod) ip() netip.Addr {
	p.mu.Lock()
	defer p.mu.Unlock()
	ip, err := netip.ParseAddr(p.pod.Status.PodIP)
	if err != nil {
		return netip.Addr{}
	}
	return ip
}

func findStatus(st *corev1.PodStatus, name string) *corev1.ContainerStatus {
	for _, list := range [][]corev1.ContainerStatus{st.InitContainerStatuses, st.ContainerStatuses} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}

// event records an event about the pod, or about one of its containers.
func (p *Pod) event(kind, reason, container, format string, args ...any) {
	p.mu.Lock()
	pod := p.pod
	p.mu.Unlock()
	path := ""
	if container != "" {
		path = fmt.Sprintf("spec.containers{%s}", container)
		if slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == container }) {
			path = fmt.Sprintf("spec.initContainers{%s}", container)
		}
	}
	ref, err := reference.GetPartialReference(scheme.Scheme, pod, path)
	if err != nil {
		p.log.Error("cannot refer to pod in an event", "error", err)
		return
	}
	p.cfg.Events.Eventf(ref, kind, reason, format, args...)
}
