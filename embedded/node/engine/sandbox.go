// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"weir.dev/embedded/node/cgroup"
	"weir.dev/embedded/node/oci"
	"weir.dev/embedded/node/sandbox"
)

// OpenSandbox makes the sandbox of a pod, or what is missing of it. networked
// is called as soon as the pod has its address, before the rest is done.
func (e *Engine) OpenSandbox(ctx context.Context, id string, pod *corev1.Pod, networked func(netip.Addr)) (*sandbox.Sandbox, error) {
	s, err := sandbox.Open(ctx, e.sandboxConfig(id, pod), e.cfg.Network, networked)
	if err != nil {
		return nil, err
	}
	hosts := sandbox.Hosts(pod, s.IP, e.cfg.ClusterDNS.Domain)
	if pod.Spec.HostNetwork {
		if text, err := os.ReadFile("/etc/hosts"); err == nil {
			hosts = string(text)
		}
	}
	return s, s.WriteFiles(hosts, sandbox.PodDNS(pod, e.cfg.ClusterDNS, e.hostDNS))
}

// ReleaseSandbox kills everything in the sandbox and gives back its network, but
// keeps its files, such as logs.
func (e *Engine) ReleaseSandbox(ctx context.Context, id string) error {
	if err := e.deleteContainers(ctx, id); err != nil {
		return err
	}
	return sandbox.Release(ctx, e.sandboxConfig(id, nil), e.cfg.Network)
}

// CloseSandbox kills everything in the sandbox and removes it.
func (e *Engine) CloseSandbox(ctx context.Context, id string) error {
	if err := e.deleteContainers(ctx, id); err != nil {
		return err
	}
	return sandbox.Close(ctx, e.sandboxConfig(id, nil), e.cfg.Network)
}

// Sandboxes lists the sandboxes that exist, whole or in part: their directories
// and those that only the network still knows.
func (e *Engine) Sandboxes() ([]string, error) {
	ids, err := e.cfg.Network.Sandboxes()
	if err != nil {
		return nil, fmt.Errorf("list sandboxes of the network: %w", err)
	}
	entries, err := os.ReadDir(sandboxesDir(e.cfg.Dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list sandboxes: %w", err)
	}
	for _, entry := range entries {
		ids = append(ids, entry.Name())
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// Tidy removes what no sandbox needs once the last one is closed.
func (e *Engine) Tidy() error { return cgroup.Prune(e.cgroupRoot) }

// Hostname is what the pod's containers see as their host's name.
func (e *Engine) Hostname(pod *corev1.Pod) string {
	if pod.Spec.HostNetwork {
		if name, err := os.Hostname(); err == nil {
			return name
		}
	}
	return sandbox.Hostname(pod)
}

// sandboxConfig describes a sandbox; without a pod, for removal only.
func (e *Engine) sandboxConfig(id string, pod *corev1.Pod) sandbox.Config {
	cfg := sandbox.Config{ID: id, Dir: e.SandboxDir(id), CgroupPath: filepath.Join(e.cgroupRoot, id)}
	if pod == nil {
		return cfg
	}
	limits := oci.PodLimits(pod)
	cfg.Limits = cgroup.Limits{
		Shares: limits.Shares, Quota: limits.Quota, Period: limits.Period,
		Memory: limits.Memory, Pids: e.cfg.PidsLimit,
	}
	cfg.Hostname = e.Hostname(pod)
	cfg.HostNetwork, cfg.HostIPC, cfg.HostIP = pod.Spec.HostNetwork, pod.Spec.HostIPC, e.cfg.HostIP
	return cfg
}
