// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"weir.dev/embedded/node/engine"
	"weir.dev/embedded/node/env"
	"weir.dev/embedded/node/oci"
	"weir.dev/embedded/node/pull"
	noderecord "weir.dev/embedded/node/record"
	"weir.dev/internal/image"
)

// once makes one run of the container and attends to it until its end.
func (c *container) once(ctx context.Context, b *backoff) outcome {
	if c.stop.requested() {
		return stopped
	}
	preparing, cancel := c.stop.before(ctx)
	ready, request, err := c.prepare(preparing)
	cancel()
	switch {
	case ctx.Err() != nil:
		return left
	case c.stop.requested():
		return stopped
	case err != nil:
		c.cannotStart(b, err)
		return unready
	}
	b.reset()
	// Neither stop nor the end of our process interrupts the runtime: a
	// container half made would be of no use to anybody.
	starting, cancel := context.WithTimeout(context.WithoutCancel(ctx), startPatience)
	defer cancel()
	run, err := c.start(starting, request, ready)
	switch {
	case errors.Is(err, engine.ErrRuntime):
		c.failedToRun(ctx, run, err)
		return finished
	case err != nil:
		c.cannotStart(b, err)
		return unready
	}
	return c.attend(ctx, run, false)
}

// startPatience is how long a runtime may take for a container.
const startPatience = 2 * time.Minute

// prepare gets everything ready that needs no runtime.
func (c *container) prepare(ctx context.Context) (pull.Ready, engine.Request, error) {
	pod, spec := c.spec()
	ready, err := c.p.cfg.Images.Ensure(ctx, pull.Request{
		Ref: spec.Image, Policy: spec.ImagePullPolicy, Owner: imageOwner(c.p.sandbox, c.name),
		Secrets: func(ctx context.Context) (authn.Keychain, error) { return c.p.keychain(ctx, pod) },
		Pulling: func() { c.event(corev1.EventTypeNormal, "Pulling", "Pulling image %q", spec.Image) },
	})
	if err != nil {
		return ready, engine.Request{}, err
	}
	if ready.Pulled {
		c.event(corev1.EventTypeNormal, "Pulled", "Successfully pulled image %q in %s. Image size: %d bytes.",
			spec.Image, ready.Took.Round(time.Millisecond), ready.Image.Size)
	} else {
		c.event(corev1.EventTypeNormal, "Pulled", "Container image %q already present on machine", spec.Image)
	}
	request, err := c.request(ctx, pod, spec, ready)
	if err != nil {
		return ready, request, &startError{reason: "CreateContainerConfigError", err: err}
	}
	return ready, request, nil
}

// request resolves what the container's definition refers to.
func (c *container) request(ctx context.Context, pod *corev1.Pod, spec *corev1.Container, ready pull.Ready) (engine.Request, error) {
	services, err := c.p.cfg.Objects.Services()
	if err != nil {
		return engine.Request{}, err
	}
	config := ready.Image.Config.Config
	variables, err := env.Resolve(ctx, c.p.cfg.Objects, env.Request{
		Pod: pod, Container: spec, Image: config.Env, Hostname: c.p.cfg.Engine.Hostname(pod),
		Services: env.VisibleServices(pod, services), Node: c.p.cfg.Node.Allocatable,
	})
	if err != nil {
		return engine.Request{}, err
	}
	args, err := oci.Args(config, variables.Expand(spec.Command), variables.Expand(spec.Args))
	if err != nil {
		return engine.Request{}, err
	}
	c.p.mu.Lock()
	opened := c.p.opened
	c.p.mu.Unlock()
	return engine.Request{
		Sandbox: opened, Pod: pod, Container: spec, Image: config, Layers: ready.Layers,
		Env: variables.List(), Args: args, Attempt: c.nextAttempt(),
		Expand: func(text string) string { return variables.Expand([]string{text})[0] },
	}, nil
}

// nextAttempt is the number of the run to come.
func (c *container) nextAttempt() int {
	st := c.status()
	if st.State.Terminated == nil && st.LastTerminationState.Terminated == nil {
		return 0
	}
	return c.current().Attempt + 1
}

// start creates and starts the container.
func (c *container) start(ctx context.Context, request engine.Request, ready pull.Ready) (engine.Container, error) {
	run := engine.Container{Sandbox: c.p.sandbox, Name: c.name, Attempt: request.Attempt}
	// What an earlier process of ours began under this number is of no use.
	if err := c.p.cfg.Engine.Remove(ctx, run); err != nil {
		return run, err
	}
	mounts, err := c.p.volumes.Mounts(request.Pod, request.Container, c.p.cfg.Engine.ScratchDir(run), request.Expand)
	if err != nil {
		return run, &startError{reason: "CreateContainerConfigError", err: err}
	}
	request.Mounts = mounts
	c.remember(func(r *noderecord.Container) { r.Attempt = run.Attempt })
	c.set(func(st *corev1.ContainerStatus) {
		st.ImageID, st.Image = ready.Image.Pinned(), ready.Image.Ref
		st.ContainerID = "runc://" + run.ID()
	})
	begin := time.Now()
	if _, err := c.p.cfg.Engine.Create(ctx, request); err != nil {
		return run, err
	}
	created := time.Now()
	c.event(corev1.EventTypeNormal, "Created", "Created container: %s", c.name)
	c.setRunning(true)
	if err := c.p.cfg.Engine.Start(ctx, run); err != nil {
		return run, fmt.Errorf("%w: %w", engine.ErrRuntime, err)
	}
	c.nowRunning(request.Container, run.Attempt)
	c.p.log.Debug("container started", "container", c.name, "attempt", run.Attempt,
		"create", created.Sub(begin), "start", time.Since(created), "sinceRun", time.Since(c.p.began))
	c.event(corev1.EventTypeNormal, "Started", "Started container %s", c.name)
	return run, nil
}

func (c *container) nowRunning(spec *corev1.Container, attempt int) {
	started := spec.StartupProbe == nil && (spec.Lifecycle == nil || spec.Lifecycle.PostStart == nil)
	c.set(func(st *corev1.ContainerStatus) {
		if st.State.Terminated != nil {
			st.LastTerminationState = st.State
		}
		st.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}
		st.RestartCount = int32(attempt)
		st.Started = &started
		st.Ready = started && spec.ReadinessProbe == nil
	})
}

// remember changes what is kept about the container besides its status. It is
// saved with the next change of the status.
func (c *container) remember(change func(r *noderecord.Container)) {
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	r := c.p.containers[c.name]
	change(&r)
	c.p.containers[c.name] = r
}

// failedToRun makes a run that the runtime refused one that ended at once.
func (c *container) failedToRun(ctx context.Context, run engine.Container, err error) {
	const startFailed = 128
	c.setRunning(false)
	message := strings.TrimPrefix(err.Error(), engine.ErrRuntime.Error()+": ")
	c.event(corev1.EventTypeWarning, "Failed", "Error: %s", message)
	now := metav1.Now()
	c.set(func(st *corev1.ContainerStatus) {
		if st.State.Terminated != nil {
			st.LastTerminationState = st.State
		}
		st.RestartCount = int32(run.Attempt)
		st.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: startFailed, Reason: "StartError", Message: message, ContainerID: st.ContainerID,
			StartedAt: now, FinishedAt: now,
		}}
	})
	c.clean(ctx, run)
}

// startError is a reason for not starting that is no failure of the image.
type startError struct {
	reason string
	err    error
}

func (e *startError) Error() string { return e.err.Error() }
func (e *startError) Unwrap() error { return e.err }

// cannotStart says in the status why the container does not start.
func (c *container) cannotStart(b *backoff, err error) {
	reason := "CreateContainerError"
	var start *startError
	var image *pull.Error
	switch {
	case errors.As(err, &image):
		reason = image.Reason
		c.event(corev1.EventTypeWarning, "Failed", "%s", err)
	case errors.As(err, &start):
		reason = start.reason
	case errors.Is(err, oci.ErrConfig):
		reason = "CreateContainerConfigError"
	}
	c.event(corev1.EventTypeWarning, "Failed", "Error: %s", reason)
	b.failed(reason, err)
	c.waiting(reason, err.Error())
}

func (c *container) event(kind, reason, format string, args ...any) {
	c.p.event(kind, reason, c.name, format, args...)
}

// keychain has the credentials of the pod's pull secrets. Secrets that do not
// exist are left out, as in Kubernetes: the image may be public.
func (p *Pod) keychain(ctx context.Context, pod *corev1.Pod) (authn.Keychain, error) {
	var configs [][]byte
	for _, ref := range pod.Spec.ImagePullSecrets {
		secret, err := p.cfg.Objects.Secret(ctx, pod.Namespace, ref.Name)
		if err != nil {
			p.event(corev1.EventTypeWarning, "FailedToRetrieveImagePullSecret", "",
				"Unable to retrieve image pull secret %s: %v", ref.Name, err)
			continue
		}
		for _, key := range []string{corev1.DockerConfigJsonKey, corev1.DockerConfigKey} {
			if data, ok := secret.Data[key]; ok {
				configs = append(configs, data)
			}
		}
	}
	return image.KeychainFromDockerConfigs(configs...)
}
