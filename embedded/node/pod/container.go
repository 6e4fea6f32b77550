// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"weir.dev/embedded/node/engine"
	"weir.dev/embedded/node/status"
)

// container drives one container of a pod through all its runs.
type container struct {
	p    *Pod
	name string
	init bool
	// stop is requested when the container is to end for good.
	stop *ending
	// kills brings reasons to end the current run, which restarts follow.
	kills chan string
	// started is closed when a run has passed its startup probe.
	started   chan struct{}
	startOnce sync.Once

	mu sync.Mutex
	// ended is closed at the end of the current run; nil between runs.
	ended chan struct{}
}

// member makes the pod's container of that name one that runs.
func (p *Pod) member(name string, init bool) *container {
	c := &container{p: p, name: name, init: init, kills: make(chan string, 1), started: make(chan struct{})}
	c.stop = newEnding()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.members[name] = c
	if p.failure != "" {
		c.stop.request(0)
	}
	return c
}

// outcome is how an attempt to run a container came out.
type outcome int

const (
	// left: our process ends, the container goes on.
	left outcome = iota
	// stopped: it was to end for good.
	stopped
	// finished: its process ended, or could not be started.
	finished
	// unready: what it needs is missing; nothing ran.
	unready
)

// run runs the container until it has ended for good, and says whether it did
// so successfully.
func (c *container) run(ctx context.Context) bool {
	defer c.leave()
	if !c.isSidecar() {
		// What ends the pod ends its containers; sidecars have their turn later.
		unlink := context.AfterFunc(c.p.stop.ctx, func() { c.stop.request(max(c.p.stop.left(), 0)) }) //nolint:contextcheck // the end of the pod is another event than that of ctx
		defer unlink()
		follow, cancel := context.WithCancel(ctx)
		defer cancel()
		go c.followDeadline(follow)
	}
	if st := c.status(); st.State.Terminated != nil && !c.restarts(st.State.Terminated.ExitCode) {
		return st.State.Terminated.ExitCode == 0
	}
	var b backoff
	result := c.resume(ctx)
	for {
		if result == unready {
			result = c.once(ctx, &b)
		}
		switch result {
		case left, stopped:
			return false
		case finished:
			code := c.exitCode()
			if !c.restarts(code) {
				return code == 0
			}
			if !c.crashPause(ctx) {
				return false
			}
		case unready:
			if !c.needPause(ctx, &b) {
				return false
			}
		}
		result = unready
	}
}

// followDeadline passes on that the pod's deadline moved closer.
func (c *container) followDeadline(ctx context.Context) {
	for {
		_, moved := c.p.stop.until()
		select {
		case <-ctx.Done():
			return
		case <-moved:
			c.stop.request(max(c.p.stop.left(), 0))
		}
	}
}

// resume goes on where an earlier process of ours left off, if one did.
func (c *container) resume(ctx context.Context) outcome {
	state := c.status().State
	switch {
	case state.Running != nil:
		return c.attend(ctx, c.current(), true)
	case state.Terminated != nil, state.Waiting != nil && state.Waiting.Reason == reasonCrashLoop:
		return finished
	}
	return unready
}

func (c *container) leave() {
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	if c.p.members[c.name] == c {
		delete(c.p.members, c.name)
	}
}

// kill ends the current run; a reason that is already there stays.
func (c *container) kill(reason string) {
	select {
	case c.kills <- reason:
	default:
	}
}

// runEnded is closed when the current run has ended.
func (c *container) runEnded() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended == nil {
		closed := make(chan struct{})
		close(closed)
		return closed
	}
	return c.ended
}

func (c *container) setRunning(running bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if running {
		c.ended = make(chan struct{})
		return
	}
	if c.ended != nil {
		close(c.ended)
		c.ended = nil
	}
}

// awaitStarted waits until a sidecar has started; false when it never will.
func (c *container) awaitStarted(ctx context.Context, side *running) bool {
	select {
	case <-c.started:
		return true
	case <-side.done:
	case <-c.p.stop.ctx.Done():
	case <-ctx.Done():
	}
	return false
}

// spec is the container as it is defined now.
func (c *container) spec() (*corev1.Pod, *corev1.Container) {
	pod := c.p.Snapshot()
	return pod, findContainer(pod, c.name)
}

func (c *container) status() corev1.ContainerStatus {
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	if st := findStatus(&c.p.pod.Status, c.name); st != nil {
		return *st.DeepCopy()
	}
	return corev1.ContainerStatus{}
}

// set changes the container's status.
func (c *container) set(change func(st *corev1.ContainerStatus)) {
	c.p.update(func(all *corev1.PodStatus) {
		if st := findStatus(all, c.name); st != nil {
			change(st)
		}
	})
}

func (c *container) waiting(reason, message string) {
	c.set(func(st *corev1.ContainerStatus) {
		if st.State.Terminated != nil {
			st.LastTerminationState = st.State
		}
		st.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
	})
}

// current is the container's newest run.
func (c *container) current() engine.Container {
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	return engine.Container{Sandbox: c.p.sandbox, Name: c.name, Attempt: c.p.containers[c.name].Attempt}
}

func (c *container) exitCode() int32 {
	st := c.status()
	if st.State.Terminated != nil {
		return st.State.Terminated.ExitCode
	}
	if st.LastTerminationState.Terminated != nil {
		return st.LastTerminationState.Terminated.ExitCode
	}
	return 0
}

func (c *container) isSidecar() bool {
	_, spec := c.spec()
	return c.init && spec != nil && status.IsSidecar(spec)
}

// restarts says whether a container that ended with code is to run again.
func (c *container) restarts(code int32) bool {
	pod, spec := c.spec()
	policy := pod.Spec.RestartPolicy
	if spec.RestartPolicy != nil {
		policy = corev1.RestartPolicy(*spec.RestartPolicy)
	}
	switch {
	case policy == corev1.RestartPolicyNever:
		return false
	case policy == corev1.RestartPolicyOnFailure || c.init && !c.isSidecar():
		return code != 0
	}
	return true
}
