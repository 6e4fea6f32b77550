// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"

	"weir.dev/embedded/node/action"
	"weir.dev/embedded/node/engine"
)

// terminate ends a run: the preStop hook, the stop signal, and SIGKILL when the
// time is over. It returns how the container ended.
func (c *container) terminate(ctx context.Context, run engine.Container, exits <-chan exited, e *ending) exited {
	_, spec := c.spec()
	// A program whose hook took all the time still gets a moment to end well.
	const least = 2 * time.Second
	if e.left() > 0 {
		if end, ended := c.preStop(ctx, run, spec, exits, e); ended {
			return end
		}
		signal := stopSignal(spec)
		if err := c.signal(ctx, run, signal); err != nil {
			c.p.log.Warn("cannot signal container", "container", c.name, "signal", signal, "error", err)
		}
		if end, ended := await(ctx, exits, e, time.Now().Add(least)); ended {
			return end
		}
	}
	if ctx.Err() != nil {
		return exited{err: ctx.Err()}
	}
	if err := c.signal(ctx, run, syscall.SIGKILL); err != nil {
		c.p.log.Warn("cannot kill container", "container", c.name, "error", err)
	}
	const patience = 10 * time.Second
	select {
	case end := <-exits:
		return end
	case <-ctx.Done():
		return exited{err: ctx.Err()}
	case <-time.After(patience):
		// Closing the sandbox kills by cgroup.
		return exited{err: errors.New("the container did not end when it was killed")}
	}
}

func (c *container) signal(ctx context.Context, run engine.Container, signal syscall.Signal) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), startPatience)
	defer cancel()
	return c.p.cfg.Engine.Signal(ctx, run, signal)
}

// await waits for the container's end until the deadline, at least until least.
func await(ctx context.Context, exits <-chan exited, e *ending, least time.Time) (exited, bool) {
	for {
		deadline, moved := e.until()
		if deadline.Before(least) && e.left() > 0 {
			deadline = least
		}
		timer := time.NewTimer(time.Until(deadline))
		select {
		case end := <-exits:
			timer.Stop()
			return end, true
		case <-ctx.Done():
			timer.Stop()
			return exited{err: ctx.Err()}, true
		case <-moved:
			timer.Stop()
		case <-timer.C:
			return exited{}, false
		}
	}
}

// preStop performs the hook and reports if the container ended meanwhile.
func (c *container) preStop(ctx context.Context, run engine.Container, spec *corev1.Container, exits <-chan exited, e *ending) (exited, bool) {
	if spec.Lifecycle == nil || spec.Lifecycle.PreStop == nil {
		return exited{}, false
	}
	hooking, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- c.target(run, spec).Hook(hooking, *spec.Lifecycle.PreStop) }()
	defer func() { cancel(); <-done }() //nolint:errcheck // a hook that is broken off has nothing to tell
	for {
		deadline, moved := e.until()
		timer := time.NewTimer(time.Until(deadline))
		select {
		case err := <-done:
			timer.Stop()
			done <- nil // for the deferred wait
			if err != nil && hooking.Err() == nil {
				c.event(corev1.EventTypeWarning, "FailedPreStopHook", "PreStopHook failed: %v", err)
			}
			return exited{}, false
		case end := <-exits:
			timer.Stop()
			return end, true
		case <-ctx.Done():
			timer.Stop()
			return exited{err: ctx.Err()}, true
		case <-moved:
			timer.Stop()
		case <-timer.C:
			c.event(corev1.EventTypeWarning, "FailedPreStopHook", "PreStopHook did not finish within the grace period")
			return exited{}, false
		}
	}
}

// target is the container for probes and hooks.
func (c *container) target(run engine.Container, spec *corev1.Container) action.Target {
	return action.Target{
		Container: spec,
		IP:        c.p.ip(),
		Exec: func(ctx context.Context, command []string) (string, error) {
			const most = 10 << 10
			output := &bounded{most: most}
			err := c.p.cfg.Engine.Exec(ctx, run, command, engine.Streams{Stdout: output, Stderr: output})
			return output.String(), err
		},
	}
}

// stopSignal is the signal that asks a container to end.
func stopSignal(spec *corev1.Container) syscall.Signal {
	if spec.Lifecycle != nil && spec.Lifecycle.StopSignal != nil {
		if signal := unix.SignalNum(string(*spec.Lifecycle.StopSignal)); signal != 0 {
			return signal
		}
	}
	return syscall.SIGTERM
}

// bounded keeps the beginning of what is written to it.
type bounded struct {
	strings.Builder
	most int
}

// Write implements io.Writer; it takes everything and keeps some.
func (b *bounded) Write(data []byte) (int, error) {
	if room := b.most - b.Len(); room > 0 {
		_, _ = b.Builder.Write(data[:min(len(data), room)])
	}
	return len(data), nil
}
