// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"weir.dev/embedded/node/engine"
	"weir.dev/embedded/node/logs"
	"weir.dev/embedded/node/monitor"
)

// exited is the end of a run as the engine reports it.
type exited struct {
	exit monitor.Exit
	err  error
}

// attend probes a running container and waits for its end, or ends it.
func (c *container) attend(ctx context.Context, run engine.Container, adopted bool) outcome {
	attending, cancel := context.WithCancel(ctx)
	var helpers sync.WaitGroup
	defer func() { cancel(); helpers.Wait() }()
	if adopted {
		c.setRunning(true)
	}
	select {
	case <-c.kills: // meant for the run before
	default:
	}
	exits := make(chan exited, 1)
	helpers.Go(func() {
		exit, err := c.p.cfg.Engine.Wait(attending, run)
		exits <- exited{exit, err}
	})
	probing, stopProbing := context.WithCancel(attending)
	defer stopProbing()
	helpers.Go(func() { c.afterStart(probing, run, adopted) })

	result := finished
	var end exited
	select {
	case <-ctx.Done():
		return left
	case end = <-exits:
	case <-c.stop.ctx.Done():
		stopProbing()
		result = stopped
		c.event(corev1.EventTypeNormal, "Killing", "Stopping container %s", c.name)
		end = c.terminate(ctx, run, exits, c.stop)
	case reason := <-c.kills:
		stopProbing()
		c.event(corev1.EventTypeNormal, "Killing", "%s", reason)
		end = c.terminate(ctx, run, exits, c.killEnding(ctx))
	}
	if ctx.Err() != nil {
		return left
	}
	c.finish(ctx, run, end)
	if c.stop.requested() {
		return stopped
	}
	return result
}

// killEnding is an end of the run only, within the grace period of the probe
// that asked for it, or sooner if the whole container is to end.
func (c *container) killEnding(ctx context.Context) *ending {
	pod, spec := c.spec()
	grace := gracePeriod(pod)
	if p := spec.LivenessProbe; p != nil && p.TerminationGracePeriodSeconds != nil {
		grace = time.Duration(*p.TerminationGracePeriodSeconds) * time.Second
	}
	e := newEnding()
	e.request(grace)
	context.AfterFunc(c.stop.ctx, func() { //nolint:contextcheck // the end of the pod is another event than that of ctx
		if ctx.Err() == nil {
			e.request(max(c.stop.left(), 0))
		}
	})
	return e
}

// finish records how the run ended and removes what is left of it.
func (c *container) finish(ctx context.Context, run engine.Container, end exited) {
	defer c.setRunning(false)
	terminated := &corev1.ContainerStateTerminated{
		ExitCode: int32(end.exit.Code), FinishedAt: metav1.NewTime(end.exit.At), Reason: "Completed",
	}
	switch {
	case end.err != nil:
		const killed = 137
		terminated.ExitCode, terminated.Reason, terminated.Message = killed, "ContainerStatusUnknown", end.err.Error()
		terminated.FinishedAt = metav1.Now()
	case end.exit.OOMKilled:
		terminated.Reason = "OOMKilled"
	case end.exit.Code != 0:
		terminated.Reason = "Error"
	}
	if end.err == nil {
		terminated.Message = c.message(run, end.exit.Code)
	}
	c.set(func(st *corev1.ContainerStatus) {
		if st.State.Running != nil {
			terminated.StartedAt = st.State.Running.StartedAt
		}
		terminated.ContainerID = st.ContainerID
		st.State = corev1.ContainerState{Terminated: terminated}
		st.Ready, st.Started = false, new(bool)
	})
	if !c.p.stop.requested() {
		c.clean(ctx, run)
	}
}

// message is what the container left for its user.
func (c *container) message(run engine.Container, code int) string {
	const mostBytes, mostLines = 2048, 80
	if text := c.p.cfg.Engine.TerminationMessage(run); text != "" {
		return text
	}
	_, spec := c.spec()
	if code != 0 && spec.TerminationMessagePolicy == corev1.TerminationMessageFallbackToLogsOnError {
		return logs.End(c.p.cfg.Engine.LogPath(run), mostBytes, mostLines)
	}
	return ""
}

// clean removes an ended run but for its log, and the log of the run two before.
func (c *container) clean(ctx context.Context, run engine.Container) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), startPatience)
	defer cancel()
	if err := c.p.cfg.Engine.Remove(ctx, run); err != nil {
		c.p.log.Warn("cannot remove ended container", "container", c.name, "error", err)
	}
	if old := run; old.Attempt >= 2 {
		old.Attempt -= 2
		if err := c.p.cfg.Engine.RemoveLog(old); err != nil {
			c.p.log.Warn("cannot remove old log", "container", c.name, "error", err)
		}
	}
}
