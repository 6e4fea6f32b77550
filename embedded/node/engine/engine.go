// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package engine makes sandboxes and containers of pods: it puts sandbox,
// root file system, OCI configuration, runtime and monitor together. What a
// pod's containers should be doing (order, restarts, probes) is decided by its
// callers; it must not know the Kubernetes API.
//
// All state lies below one directory, and every name in the kernel derives from
// that directory, so a new process finds the containers of an earlier one.
package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"weir.dev/embedded/node/cgroup"
	"weir.dev/embedded/node/monitor"
	"weir.dev/embedded/node/oci"
	"weir.dev/embedded/node/ociruntime"
	"weir.dev/embedded/node/sandbox"
)

// Runtime is what the engine needs of an OCI runtime.
type Runtime interface {
	Start(ctx context.Context, id string) error
	Kill(ctx context.Context, id string, signal syscall.Signal) error
	Delete(ctx context.Context, id string) error
	Exec(ctx context.Context, req ociruntime.ExecRequest) error
}

// Monitor is what the engine needs of a container monitor.
type Monitor interface {
	Create(ctx context.Context, c monitor.Container) (pid int, err error)
	Wait(ctx context.Context, c monitor.Container) (monitor.Exit, error)
	ReopenLog(c monitor.Container) error
}

// Config says where the engine works and with what.
type Config struct {
	// Dir holds all state. Cgroups are named after it.
	Dir     string
	Runtime Runtime
	Monitor Monitor
	Network sandbox.Network
	// HostIP is the address of pods in the machine's network.
	HostIP netip.Addr
	// ClusterDNS is the resolver of pods.
	ClusterDNS sandbox.ClusterDNS
	// PidsLimit bounds the processes of a pod; 0 is unlimited.
	PidsLimit int64
	// LogLimit bounds a container's log in bytes while nobody rotates it.
	LogLimit int64
	// Memory is the machine's memory in bytes.
	Memory int64
	Log    *slog.Logger
}

// Engine makes sandboxes and containers.
type Engine struct {
	cfg        Config
	cgroupRoot string
	machine    oci.Machine
	hostDNS    sandbox.DNS
	log        *slog.Logger
}

// New prepares an engine; it touches nothing yet.
func New(cfg Config) (*Engine, error) {
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("resolve engine directory: %w", err)
	}
	cfg.Dir = dir
	e := &Engine{cfg: cfg, cgroupRoot: cgroupRoot(dir), log: cfg.Log}
	if e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
	}
	e.machine = oci.Machine{
		CgroupV2:       cgroup.V2(),
		SwapAccounting: cgroup.SwapAccounting(),
		OOMScoreAdj:    ownOOMScoreAdj(),
		Capabilities:   oci.Capabilities(ownCapabilities()),
		Memory:         cfg.Memory,
	}
	if text, err := os.ReadFile("/etc/resolv.conf"); err == nil {
		e.hostDNS = sandbox.ParseDNS(string(text))
	}
	return e, nil
}

func ownOOMScoreAdj() int {
	text, err := os.ReadFile("/proc/self/oom_score_adj")
	if err != nil {
		return 0
	}
	score, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return score
}

// ownCapabilities is the mask of those that we can pass on.
func ownCapabilities() uint64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, "CapBnd:"); found {
			mask, err := strconv.ParseUint(strings.TrimSpace(value), 16, 64)
			if err != nil {
				return 0
			}
			return mask
		}
	}
	return 0
}

// cgroupRoot is the cgroup of everything below dir.
func cgroupRoot(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return "/weir-" + hex.EncodeToString(sum[:4])
}

// RuntimeRoot is where the OCI runtime keeps its state for the engine in dir.
func RuntimeRoot(dir string) string { return filepath.Join(dir, "runtime") }

func sandboxesDir(dir string) string { return filepath.Join(dir, "sandboxes") }

// SandboxDir is the directory of one sandbox.
func (e *Engine) SandboxDir(id string) string { return filepath.Join(sandboxesDir(e.cfg.Dir), id) }
