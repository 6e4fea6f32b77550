// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"weir.dev/embedded/node/pull"
	noderecord "weir.dev/embedded/node/record"
)

const (
	reasonCrashLoop = "CrashLoopBackOff"

	firstBackoff   = 10 * time.Second
	longestBackoff = 5 * time.Minute
	// goodRun is how long a run must last for its end to be a first failure.
	goodRun = 10 * time.Minute
)

// nextBackoff is the pause before a start, given the one before the run that
// ended: none after the first failure, then 10 s, doubled up to 5 minutes.
func nextBackoff(last, ran time.Duration, first bool) time.Duration {
	switch {
	case first || ran >= goodRun:
		return 0
	case last == 0:
		return firstBackoff
	}
	return min(2*last, longestBackoff)
}

// crashPause waits before the next start of a container that ended; false when
// it is not to be started.
func (c *container) crashPause(ctx context.Context) bool {
	if c.stop.requested() {
		return false
	}
	st := c.status()
	end := st.State.Terminated
	if end == nil {
		// Our process was restarted during the pause.
		end = st.LastTerminationState.Terminated
	} else {
		c.remember(func(r *noderecord.Container) {
			ran := end.FinishedAt.Sub(end.StartedAt.Time)
			r.Backoff, r.Failed = nextBackoff(r.Backoff, ran, !r.Failed), true
		})
	}
	c.p.mu.Lock()
	pause := c.p.containers[c.name].Backoff
	pod := c.p.pod
	c.p.mu.Unlock()
	if end != nil {
		pause -= time.Since(end.FinishedAt.Time)
	}
	if pause <= 0 {
		return ctx.Err() == nil
	}
	c.event(corev1.EventTypeWarning, "BackOff", "Back-off restarting failed container %s in pod %s_%s(%s)",
		c.name, pod.Name, pod.Namespace, pod.UID)
	c.waiting(reasonCrashLoop, fmt.Sprintf("back-off %s restarting failed container=%s pod=%s_%s(%s)",
		pause.Round(time.Second), c.name, pod.Name, pod.Namespace, pod.UID))
	waiting, cancel := c.stop.before(ctx)
	defer cancel()
	return wait(waiting, pause)
}

// backoff is the pause between attempts to get what a container needs.
type backoff struct {
	pause  time.Duration
	reason string
	err    error
}

func (b *backoff) reset() { *b = backoff{} }

func (b *backoff) failed(reason string, err error) {
	first, longest := time.Second, 10*time.Second
	if isPull(reason) {
		first, longest = firstBackoff, longestBackoff
	}
	if b.pause == 0 || isPull(reason) != isPull(b.reason) {
		b.pause = first
	} else {
		b.pause = min(2*b.pause, longest)
	}
	b.reason, b.err = reason, err
}

func isPull(reason string) bool {
	return reason == pull.ReasonPull || reason == pull.ReasonInspect
}

// needPause waits before the next attempt; false when the container is not to
// be started.
func (c *container) needPause(ctx context.Context, b *backoff) bool {
	const shown = time.Second
	waiting, cancel := c.stop.before(ctx)
	defer cancel()
	if !isPull(b.reason) {
		return wait(waiting, b.pause)
	}
	_, spec := c.spec()
	until := time.Now().Add(b.pause)
	for told := false; time.Now().Before(until); {
		if !wait(waiting, min(shown, time.Until(until))) {
			return false
		}
		if !told {
			told = true
			c.event(corev1.EventTypeNormal, "BackOff", "Back-off pulling image %q", spec.Image)
			c.waiting("ImagePullBackOff", fmt.Sprintf("Back-off pulling image %q: %s: %v", spec.Image, b.reason, b.err))
		}
		// Somebody may have built or imported it meanwhile.
		if spec.ImagePullPolicy != corev1.PullAlways && c.p.cfg.Images.Present(spec.Image) {
			return true
		}
	}
	return true
}
