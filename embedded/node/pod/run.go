// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"weir.dev/embedded/node/sandbox"
	"weir.dev/embedded/node/status"
	"weir.dev/embedded/node/volume"
)

// Run makes the pod happen until it is stopped and gone, or until ctx ends,
// which leaves its containers running.
func (p *Pod) Run(ctx context.Context) {
	defer close(p.done)
	publishing, stopPublishing := context.WithCancel(context.WithoutCancel(ctx))
	var published sync.WaitGroup
	published.Go(func() { p.publish(publishing) })
	defer func() { stopPublishing(); published.Wait() }()
	p.mu.Lock()
	p.save()
	p.mu.Unlock()
	p.touch()

	p.course(ctx)
	if ctx.Err() != nil {
		return
	}
	// A pod that ended by itself keeps its logs until somebody deletes it, but
	// no address.
	if !p.stop.requested() {
		if err := p.cfg.Engine.ReleaseSandbox(ctx, p.sandbox); err != nil && ctx.Err() == nil {
			p.log.Warn("cannot release sandbox of ended pod", "error", err)
		}
	}
	select {
	case <-ctx.Done():
		return
	case <-p.stop.ctx.Done():
	}
	p.settle()
	p.tearDown(ctx)
}

// course is everything from the sandbox to the last container's end.
func (p *Pod) course(ctx context.Context) {
	if p.over() {
		return
	}
	p.warnUnsupported()
	working, cancel := p.stop.before(ctx)
	defer cancel()
	defer p.limitTime(working)()
	if !p.open(working) {
		return
	}
	var refresh sync.WaitGroup
	refreshing, stopRefreshing := context.WithCancel(working)
	refresh.Go(func() { p.refresh(refreshing) })
	defer func() { stopRefreshing(); refresh.Wait() }()
	p.runContainers(ctx)
}

func (p *Pod) over() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pod.Status.Phase == corev1.PodSucceeded || p.pod.Status.Phase == corev1.PodFailed
}

// open makes sandbox and volumes, again and again until it works; false when
// ctx ended first. Done again for an adopted pod it changes nothing.
func (p *Pod) open(ctx context.Context) bool {
	var opened *sandbox.Sandbox
	ok := retry(ctx, func() error {
		s, err := p.cfg.Engine.OpenSandbox(ctx, p.sandbox, p.Snapshot(), p.setIP)
		opened = s
		return err
	}, func(err error) {
		p.event(corev1.EventTypeWarning, "FailedCreatePodSandBox", "", "Failed to create pod sandbox: %v", err)
		p.explain(fmt.Sprintf("Failed to create pod sandbox: %v", err))
	})
	if !ok {
		return false
	}
	p.explain("")
	p.mu.Lock()
	p.opened = opened
	p.mu.Unlock()
	ok = retry(ctx, func() error { return p.volumes.SetUp(ctx, p.Snapshot()) }, func(err error) {
		p.event(corev1.EventTypeWarning, "FailedMount", "", "MountVolume.SetUp failed: %v", err)
		p.explain(fmt.Sprintf("MountVolume.SetUp failed: %v", err))
	})
	p.explain("")
	return ok
}

// explain has the containers that wait for the pod say what it waits for; "" is nothing in particular.
func (p *Pod) explain(message string) {
	p.update(func(st *corev1.PodStatus) {
		for _, list := range [][]corev1.ContainerStatus{st.InitContainerStatuses, st.ContainerStatuses} {
			for i := range list {
				if w := list[i].State.Waiting; w != nil && (w.Reason == creating || w.Reason == initializing) {
					w.Message = message
				}
			}
		}
	})
}

// retry calls f until it succeeds, with growing pauses; false when ctx ended.
func retry(ctx context.Context, f func() error, failed func(error)) bool {
	const first, longest = 500 * time.Millisecond, 10 * time.Second
	for pause := first; ; pause = min(2*pause, longest) {
		err := f()
		if err == nil {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		failed(err)
		if !wait(ctx, pause) {
			return false
		}
	}
}

func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return ctx.Err() == nil
	}
}

// refresh keeps volumes that show API objects up to date.
func (p *Pod) refresh(ctx context.Context) {
	const interval = time.Minute
	if !volume.Refreshes(p.Snapshot()) {
		return
	}
	for wait(ctx, interval) {
		if err := p.volumes.Refresh(ctx, p.Snapshot()); err != nil && ctx.Err() == nil {
			p.log.Warn("cannot refresh volumes", "error", err)
		}
	}
}

// limitTime fails the pod at its deadline. The returned function ends the watch.
func (p *Pod) limitTime(ctx context.Context) func() {
	pod := p.Snapshot()
	if pod.Spec.ActiveDeadlineSeconds == nil || pod.Status.StartTime == nil {
		return func() {}
	}
	limit := time.Duration(*pod.Spec.ActiveDeadlineSeconds) * time.Second
	var watch sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	watch.Go(func() {
		if wait(ctx, time.Until(pod.Status.StartTime.Add(limit))) {
			p.fail("DeadlineExceeded", "Pod was active on the node longer than the specified deadline")
		}
	})
	return func() { cancel(); watch.Wait() }
}

// fail ends the pod's containers and makes its phase Failed. The pod stays
// until it is deleted.
func (p *Pod) fail(reason, message string) {
	p.event(corev1.EventTypeWarning, reason, "", "%s", message)
	grace := gracePeriod(p.Snapshot())
	p.mu.Lock()
	p.failure, p.failureMessage = reason, message
	for _, c := range p.members {
		c.stop.request(grace)
	}
	p.mu.Unlock()
	p.touch()
}

func gracePeriod(pod *corev1.Pod) time.Duration {
	const usual = 30 * time.Second
	if pod.Spec.TerminationGracePeriodSeconds == nil {
		return usual
	}
	return time.Duration(*pod.Spec.TerminationGracePeriodSeconds) * time.Second
}

// runContainers runs init containers one after the other, sidecars from their
// turn on, then the containers, and returns when all have ended for good.
func (p *Pod) runContainers(ctx context.Context) {
	pod := p.Snapshot()
	var sidecars []*running
	// The last sidecar ends first, and all after the containers.
	defer func() {
		for i := len(sidecars) - 1; i >= 0; i-- {
			sidecars[i].end(ctx, p)
		}
	}()
	for i := range pod.Spec.InitContainers {
		c := p.member(pod.Spec.InitContainers[i].Name, true)
		if status.IsSidecar(&pod.Spec.InitContainers[i]) {
			side := start(ctx, c)
			sidecars = append(sidecars, side)
			if !c.awaitStarted(ctx, side) {
				return
			}
			continue
		}
		if !c.run(ctx) {
			return
		}
	}
	var apps []*running
	for i := range pod.Spec.Containers {
		apps = append(apps, start(ctx, p.member(pod.Spec.Containers[i].Name, false)))
	}
	for _, app := range apps {
		<-app.done
	}
}

// running is a container with its goroutine.
type running struct {
	c    *container
	done chan struct{}
}

func start(ctx context.Context, c *container) *running {
	r := &running{c: c, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		c.run(ctx)
	}()
	return r
}

// end stops a sidecar within what is left of the pod's time.
func (r *running) end(ctx context.Context, p *Pod) {
	if ctx.Err() == nil {
		grace := gracePeriod(p.Snapshot())
		if p.stop.requested() {
			grace = max(p.stop.left(), 0)
		}
		r.c.stop.request(grace)
	}
	<-r.done
}

// settle makes the states of containers that never ran final.
func (p *Pod) settle() {
	p.update(func(st *corev1.PodStatus) {
		for _, list := range [][]corev1.ContainerStatus{st.InitContainerStatuses, st.ContainerStatuses} {
			for i := range list {
				if list[i].State.Terminated != nil {
					continue
				}
				list[i].Ready, list[i].Started = false, new(bool)
				// One that waited for its next start ended when it did.
				if list[i].LastTerminationState.Terminated != nil {
					list[i].State = list[i].LastTerminationState
					continue
				}
				list[i].State = lost(list[i])
				list[i].State.Terminated.Message = "The container was not running when the pod was stopped"
			}
		}
	})
}

// tearDown removes everything of the pod from this node.
func (p *Pod) tearDown(ctx context.Context) {
	p.mu.Lock()
	p.closing = true
	p.mu.Unlock()
	ok := retry(ctx, func() error { return p.cfg.Engine.CloseSandbox(ctx, p.sandbox) }, func(err error) {
		p.event(corev1.EventTypeWarning, "FailedKillPod", "", "error killing pod: %v", err)
	})
	if !ok {
		return
	}
	pod := p.Snapshot()
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			if err := p.cfg.Images.Release(imageOwner(p.sandbox, list[i].Name)); err != nil {
				p.log.Warn("cannot release image", "error", err)
			}
		}
	}
	p.mu.Lock()
	p.removed = true
	p.mu.Unlock()
}

func imageOwner(sandboxID, name string) string { return fmt.Sprintf("%s-%s", sandboxID, name) }
