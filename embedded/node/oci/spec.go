// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package oci turns a pod's container into an OCI runtime configuration: a
// function of the pod, the image's configuration and the sandbox. The only file
// system it reads is the container's root, to look up users by name.
//
// Users cannot configure what the runtime contract reserves for the platform:
// namespaces, extra devices, masked and read-only paths, root propagation.
package oci

import (
	"errors"
	"fmt"

	imagev1 "github.com/google/go-containerregistry/pkg/v1"
	specs "github.com/opencontainers/runtime-spec/specs-go"
	corev1 "k8s.io/api/core/v1"
)

// ErrConfig says that the pod asks for something that no retry can make true
// (Kubernetes' reason CreateContainerConfigError).
var ErrConfig = errors.New("invalid container configuration")

// Request is all that a configuration is made from.
type Request struct {
	Pod       *corev1.Pod
	Container *corev1.Container
	// Image is the image's own configuration.
	Image imagev1.Config
	// Args is the complete command line, see Args.
	Args []string
	// Env is the complete environment in the form NAME=value, see Env.
	Env []string
	// Root is the mounted root file system.
	Root string
	// User is the resolved identity, see ResolveUser.
	User specs.User
	// Mounts are the volumes and files of the sandbox.
	Mounts []specs.Mount
	// Sandbox holds what the containers of a pod share.
	Sandbox Sandbox
	// CgroupPath is the container's cgroup, below the machine's root cgroup.
	CgroupPath string
	// Machine describes the kernel.
	Machine Machine
}

// Sandbox names what the containers of a pod share. An empty namespace path
// means the machine's own.
type Sandbox struct {
	Hostname        string
	NetNS           string
	IPCNS           string
	UTSNS           string
	HostPIDs        bool
	UnprivilegedLow bool // ports below 1024 need no capability
}

// Machine describes what the kernel allows.
type Machine struct {
	// CgroupV2 is true when the unified hierarchy is the only one.
	CgroupV2 bool
	// SwapAccounting says that the memory controller can limit swap.
	SwapAccounting bool
	// OOMScoreAdj is our own score: without CAP_SYS_RESOURCE no child can
	// have a lower one, and a runtime told to try fails.
	OOMScoreAdj int
	// Capabilities are all that a container can get.
	Capabilities []string
	// Memory is the machine's memory in bytes.
	Memory int64
}

// New makes the runtime configuration of a container.
func New(req Request) (*specs.Spec, error) {
	spec := &specs.Spec{
		Version:  "1.0.2",
		Hostname: "",
		Root:     &specs.Root{Path: req.Root, Readonly: readOnlyRoot(req.Container)},
		Process:  process(req),
		Mounts:   append(systemMounts(req), req.Mounts...),
		Linux: &specs.Linux{
			CgroupsPath: req.CgroupPath,
			Namespaces:  namespaces(req),
			Resources:   resources(req),
			Sysctl:      sysctls(req),
			// Mounts of the machine below the root's source must not appear
			// inside, nor the other way round.
			RootfsPropagation: "rprivate",
		},
		Annotations: map[string]string{
			"weir.dev/namespace": req.Pod.Namespace,
			"weir.dev/pod":       req.Pod.Name,
			"weir.dev/container": req.Container.Name,
		},
	}
	if err := confine(spec, req); err != nil {
		return nil, fmt.Errorf("container %s: %w", req.Container.Name, err)
	}
	return spec, nil
}

func process(req Request) *specs.Process {
	cwd := req.Container.WorkingDir
	if cwd == "" {
		cwd = req.Image.WorkingDir
	}
	if cwd == "" {
		cwd = "/"
	}
	score := oomScoreAdj(req)
	return &specs.Process{
		Terminal:        req.Container.TTY,
		User:            req.User,
		Args:            req.Args,
		Env:             req.Env,
		Cwd:             cwd,
		NoNewPrivileges: noNewPrivileges(req.Container),
		OOMScoreAdj:     &score,
	}
}

// Args joins the image's entrypoint and command with the container's, as
// Kubernetes does: command replaces both, args replace the image's command.
func Args(image imagev1.Config, command, args []string) ([]string, error) {
	var all []string
	switch {
	case len(command) > 0:
		all = append(append(all, command...), args...)
	case len(args) > 0:
		all = append(append(all, image.Entrypoint...), args...)
	default:
		all = append(append(all, image.Entrypoint...), image.Cmd...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no command specified: %w", ErrConfig)
	}
	return all, nil
}

func readOnlyRoot(c *corev1.Container) bool {
	return c.SecurityContext != nil && c.SecurityContext.ReadOnlyRootFilesystem != nil && *c.SecurityContext.ReadOnlyRootFilesystem
}

func noNewPrivileges(c *corev1.Container) bool {
	s := c.SecurityContext
	return s != nil && s.AllowPrivilegeEscalation != nil && !*s.AllowPrivilegeEscalation && !privileged(c)
}

func privileged(c *corev1.Container) bool {
	return c.SecurityContext != nil && c.SecurityContext.Privileged != nil && *c.SecurityContext.Privileged
}

func namespaces(req Request) []specs.LinuxNamespace {
	list := []specs.LinuxNamespace{{Type: specs.MountNamespace}}
	if !req.Sandbox.HostPIDs {
		list = append(list, specs.LinuxNamespace{Type: specs.PIDNamespace})
	}
	shared := []struct {
		kind specs.LinuxNamespaceType
		path string
	}{
		{specs.NetworkNamespace, req.Sandbox.NetNS},
		{specs.IPCNamespace, req.Sandbox.IPCNS},
		{specs.UTSNamespace, req.Sandbox.UTSNS},
	}
	for _, s := range shared {
		if s.path != "" {
			list = append(list, specs.LinuxNamespace{Type: s.kind, Path: s.path})
		}
	}
	if req.Machine.CgroupV2 && !privileged(req.Container) {
		list = append(list, specs.LinuxNamespace{Type: specs.CgroupNamespace})
	}
	return list
}

func sysctls(req Request) map[string]string {
	set := map[string]string{}
	if req.Sandbox.NetNS != "" && req.Sandbox.UnprivilegedLow {
		set["net.ipv4.ip_unprivileged_port_start"] = "0"
	}
	if s := req.Pod.Spec.SecurityContext; s != nil {
		for _, ctl := range s.Sysctls {
			set[ctl.Name] = ctl.Value
		}
	}
	return set
}
