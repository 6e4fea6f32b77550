// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"weir.dev/embedded/node/action"
	"weir.dev/embedded/node/engine"
	"weir.dev/embedded/node/probe"
)

// afterStart performs the postStart hook and then probes, until ctx ends.
func (c *container) afterStart(ctx context.Context, run engine.Container, adopted bool) {
	_, spec := c.spec()
	target := c.target(run, spec)
	st := c.status()
	began := adopted && st.Started != nil && *st.Started
	if !began && !c.postStart(ctx, spec, target) {
		return
	}
	if !began && spec.StartupProbe != nil && !c.startup(ctx, spec, target) {
		return
	}
	if ctx.Err() != nil {
		return
	}
	c.startOnce.Do(func() { close(c.started) })
	if !began {
		c.setStarted(spec.ReadinessProbe == nil)
	}
	var probes sync.WaitGroup
	defer probes.Wait()
	if spec.ReadinessProbe != nil {
		probes.Go(func() { c.readiness(ctx, spec, target, began && st.Ready) })
	}
	if spec.LivenessProbe != nil {
		probes.Go(func() { c.liveness(ctx, spec, target) })
	}
}

// postStart is false when the hook failed, which ends the run.
func (c *container) postStart(ctx context.Context, spec *corev1.Container, target action.Target) bool {
	if spec.Lifecycle == nil || spec.Lifecycle.PostStart == nil {
		return true
	}
	err := target.Hook(ctx, *spec.Lifecycle.PostStart)
	if ctx.Err() != nil {
		return false
	}
	if err != nil {
		c.event(corev1.EventTypeWarning, "FailedPostStartHook", "PostStartHook failed: %v", err)
		c.kill("FailedPostStartHook")
		return false
	}
	return true
}

func (c *container) setStarted(ready bool) {
	c.set(func(st *corev1.ContainerStatus) {
		if st.State.Running == nil {
			return
		}
		yes := true
		st.Started = &yes
		st.Ready = ready
	})
}

func (c *container) startup(ctx context.Context, spec *corev1.Container, target action.Target) bool {
	passed := false
	probe.Run(ctx, c.probe(probe.Startup, spec.StartupProbe, target, func(healthy bool) {
		passed = healthy
		if !healthy {
			c.kill(fmt.Sprintf("Container %s failed startup probe, will be restarted", c.name))
		}
	}))
	return passed
}

func (c *container) readiness(ctx context.Context, spec *corev1.Container, target action.Target, healthy bool) {
	cfg := c.probe(probe.Readiness, spec.ReadinessProbe, target, func(healthy bool) {
		c.set(func(st *corev1.ContainerStatus) { st.Ready = healthy && st.State.Running != nil })
	})
	cfg.Healthy = healthy
	probe.Run(ctx, cfg)
}

func (c *container) liveness(ctx context.Context, spec *corev1.Container, target action.Target) {
	probe.Run(ctx, c.probe(probe.Liveness, spec.LivenessProbe, target, func(healthy bool) {
		if !healthy {
			c.kill(fmt.Sprintf("Container %s failed liveness probe, will be restarted", c.name))
		}
	}))
}

func (c *container) probe(kind probe.Kind, p *corev1.Probe, target action.Target, changed func(bool)) probe.Config {
	return probe.Config{
		Kind: kind, Probe: p, Changed: changed,
		Attempt: func(ctx context.Context) error { return target.Probe(ctx, p.ProbeHandler) },
		Failed: func(err error) {
			c.event(corev1.EventTypeWarning, "Unhealthy", "%s probe failed: %v", kind, err)
		},
	}
}
