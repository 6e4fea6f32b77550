// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	imagev1 "github.com/google/go-containerregistry/pkg/v1"
	specs "github.com/opencontainers/runtime-spec/specs-go"
	corev1 "k8s.io/api/core/v1"

	"weir.dev/embedded/node/monitor"
	"weir.dev/embedded/node/oci"
	"weir.dev/embedded/node/ociruntime"
	"weir.dev/embedded/node/rootfs"
	"weir.dev/embedded/node/sandbox"
)

// Container names one run of a pod's container. With the engine's directory it
// is all that is needed to find the run's files again.
type Container struct {
	Sandbox string
	Name    string
	Attempt int
}

// ID is the runtime's id of the container.
func (c Container) ID() string { return c.Sandbox + "-" + c.key() }

func (c Container) key() string { return c.Name + "-" + strconv.Itoa(c.Attempt) }

// Request is what a container is made from.
type Request struct {
	Sandbox   *sandbox.Sandbox
	Pod       *corev1.Pod
	Container *corev1.Container
	Attempt   int
	// Image is the image's configuration, Layers its unpacked layers.
	Image  imagev1.Config
	Layers []string
	// Env is NAME=value, Args the command line; both are complete.
	Env, Args []string
	// Mounts are the pod's volumes.
	Mounts []specs.Mount
	// Expand replaces variables, for callers that compute Mounts later.
	Expand func(string) string
}

// ErrRuntime says that the runtime refused the container, so that this run of
// it has failed. Other errors of Create mean that it was never tried.
var ErrRuntime = errors.New("runtime refused the container")

// Create makes a container whose process waits to be started.
func (e *Engine) Create(ctx context.Context, req Request) (Container, error) {
	c := Container{Sandbox: req.Sandbox.ID, Name: req.Container.Name, Attempt: req.Attempt}
	for _, dir := range []string{e.bundle(c), filepath.Dir(e.LogPath(c)), RuntimeRoot(e.cfg.Dir)} {
		if err := os.MkdirAll(dir, 0o711); err != nil {
			return c, fmt.Errorf("make container directory: %w", err)
		}
	}
	root, err := rootfs.Mount(e.bundle(c), req.Layers)
	if err != nil {
		return c, err
	}
	spec, err := e.spec(c, req, root)
	if err != nil {
		return c, err
	}
	if err := writeJSON(filepath.Join(e.bundle(c), "config.json"), spec); err != nil {
		return c, err
	}
	monitored := e.monitored(c)
	monitored.Stdin, monitored.Terminal = req.Container.Stdin, req.Container.TTY
	if _, err = e.cfg.Monitor.Create(ctx, monitored); err != nil {
		return c, fmt.Errorf("%w: %w", ErrRuntime, err)
	}
	return c, nil
}

// ScratchDir is a directory of the host that goes with the container.
func (e *Engine) ScratchDir(c Container) string { return filepath.Join(e.bundle(c), "scratch") }

func (e *Engine) spec(c Container, req Request, root string) (*specs.Spec, error) {
	user, err := oci.ResolveUser(root, req.Image.User, req.Pod, req.Container)
	if err != nil {
		return nil, err
	}
	mounts, err := e.mounts(c, req)
	if err != nil {
		return nil, err
	}
	return oci.New(oci.Request{
		Pod: req.Pod, Container: req.Container, Image: req.Image, Args: req.Args, Env: req.Env,
		Root: root, User: user, Mounts: mounts, Machine: e.machine,
		CgroupPath: filepath.Join(req.Sandbox.CgroupPath, c.key()),
		Sandbox: oci.Sandbox{
			Hostname: req.Sandbox.Hostname, NetNS: req.Sandbox.NetNS, IPCNS: req.Sandbox.IPCNS, UTSNS: req.Sandbox.UTSNS,
			HostPIDs: req.Pod.Spec.HostPID, UnprivilegedLow: true,
		},
	})
}

// mounts adds the sandbox's files to the volumes, shallow destinations first.
// A volume mounted at a file's place wins.
func (e *Engine) mounts(c Container, req Request) ([]specs.Mount, error) {
	shm := req.Sandbox.ShmDir()
	if req.Pod.Spec.HostIPC {
		shm = "/dev/shm"
	}
	mounts := []specs.Mount{oci.Bind(shm, "/dev/shm", false)}
	readOnly := req.Container.SecurityContext != nil && req.Container.SecurityContext.ReadOnlyRootFilesystem != nil &&
		*req.Container.SecurityContext.ReadOnlyRootFilesystem
	for _, name := range []string{"hosts", "hostname", "resolv.conf"} {
		mounts = append(mounts, oci.Bind(filepath.Join(req.Sandbox.FilesDir(), name), "/etc/"+name, readOnly))
	}
	if path := req.Container.TerminationMessagePath; path != "" {
		file := e.terminationFile(c)
		if err := os.WriteFile(file, nil, 0o666); err != nil {
			return nil, fmt.Errorf("make termination message file: %w", err)
		}
		if err := os.Chmod(file, 0o666); err != nil {
			return nil, fmt.Errorf("make termination message file: %w", err)
		}
		mounts = append(mounts, oci.Bind(file, path, false))
	}
	mounts = slices.DeleteFunc(mounts, func(m specs.Mount) bool {
		return slices.ContainsFunc(req.Mounts, func(v specs.Mount) bool { return filepath.Clean(v.Destination) == m.Destination })
	})
	mounts = append(mounts, req.Mounts...)
	slices.SortStableFunc(mounts, func(a, b specs.Mount) int {
		return strings.Count(filepath.Clean(a.Destination), "/") - strings.Count(filepath.Clean(b.Destination), "/")
	})
	return mounts, nil
}

// Start runs the container's process.
func (e *Engine) Start(ctx context.Context, c Container) error {
	return e.cfg.Runtime.Start(ctx, c.ID())
}

// Wait returns how the container ended, also one of an earlier process of ours.
func (e *Engine) Wait(ctx context.Context, c Container) (monitor.Exit, error) {
	return e.cfg.Monitor.Wait(ctx, e.monitored(c))
}

// Signal sends a signal to the container's first process, or what is effective
// in its place. A container that is gone is no error.
func (e *Engine) Signal(ctx context.Context, c Container, signal syscall.Signal) error {
	err := e.cfg.Runtime.Kill(ctx, c.ID(), e.effective(c, signal))
	if errors.Is(err, ociruntime.ErrNotFound) {
		return nil
	}
	return err
}

// Remove kills what is left of the container and removes all but its log. A
// container that was never made is no error, and costs nothing.
func (e *Engine) Remove(ctx context.Context, c Container) error {
	if _, err := os.Lstat(e.bundle(c)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := e.cfg.Runtime.Delete(ctx, c.ID()); err != nil {
		return err
	}
	if err := sandbox.UnmountBelow(e.bundle(c)); err != nil {
		return err
	}
	if err := os.RemoveAll(e.bundle(c)); err != nil {
		return fmt.Errorf("remove container %s: %w", c.ID(), err)
	}
	return nil
}

// RemoveLog removes the log of a run that nobody can ask for any more.
func (e *Engine) RemoveLog(c Container) error {
	for _, path := range []string{e.LogPath(c), e.LogPath(c) + ".1"} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove log: %w", err)
		}
	}
	return nil
}

// ReopenLog makes the container's log go on in a new file after a rename.
func (e *Engine) ReopenLog(c Container) error { return e.cfg.Monitor.ReopenLog(e.monitored(c)) }

// LogPath is the container's log file, in the CRI format.
func (e *Engine) LogPath(c Container) string {
	return filepath.Join(e.SandboxDir(c.Sandbox), "logs", c.Name, strconv.Itoa(c.Attempt)+".log")
}

// TerminationMessage is what the container wrote for its user to read at its
// end, at most 4096 bytes as in Kubernetes.
func (e *Engine) TerminationMessage(c Container) string {
	const most = 4096
	data, err := os.ReadFile(e.terminationFile(c))
	if err != nil {
		return ""
	}
	return string(data[:min(len(data), most)])
}

func (e *Engine) terminationFile(c Container) string {
	return filepath.Join(e.bundle(c), "termination-log")
}

func (e *Engine) bundle(c Container) string {
	return filepath.Join(e.SandboxDir(c.Sandbox), "containers", c.key())
}

func (e *Engine) monitored(c Container) monitor.Container {
	return monitor.Container{ID: c.ID(), Bundle: e.bundle(c), LogPath: e.LogPath(c), LogLimit: e.cfg.LogLimit}
}

// deleteContainers makes the runtime forget all containers of a sandbox.
func (e *Engine) deleteContainers(ctx context.Context, sandboxID string) error {
	entries, err := os.ReadDir(filepath.Join(e.SandboxDir(sandboxID), "containers"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("list containers of sandbox %s: %w", sandboxID, err)
	}
	for _, entry := range entries {
		id := sandboxID + "-" + entry.Name()
		if err := e.cfg.Runtime.Delete(ctx, id); err != nil {
			return err
		}
		// The monitor writes into the bundle until it ends.
		bundle := filepath.Join(e.SandboxDir(sandboxID), "containers", entry.Name())
		ending, cancel := context.WithTimeout(ctx, monitorPatience)
		_, err := e.cfg.Monitor.Wait(ending, monitor.Container{ID: id, Bundle: bundle})
		cancel()
		if err != nil && !errors.Is(err, monitor.ErrLost) {
			return fmt.Errorf("wait for monitor of container %s: %w", id, err)
		}
	}
	return nil
}

// monitorPatience is how long a monitor may live on after its container.
const monitorPatience = 5 * time.Second

func writeJSON(path string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode %s: %w", filepath.Base(path), err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return nil
}
