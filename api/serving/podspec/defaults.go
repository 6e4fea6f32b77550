// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"weir.dev/api/config"
	"weir.dev/pkg/apis"
)

// AvoidNulls makes lists empty that would be null in JSON. The API server's
// schema knows no null, and would speak before validation can say what is
// missing.
func AvoidNulls(ps *corev1.PodSpec) {
	if ps.Containers == nil {
		ps.Containers = []corev1.Container{}
	}
	for i := range ps.Volumes {
		if p := ps.Volumes[i].Projected; p != nil && p.Sources == nil {
			p.Sources = []corev1.VolumeProjection{}
		}
	}
}

// SetDefaults fills in a pod by the settings in the context.
func SetDefaults(ctx context.Context, ps *corev1.PodSpec) {
	AvoidNulls(ps)
	cfg := config.FromContextOrDefaults(ctx)
	nameContainers(ctx, ps, cfg.Defaults)
	for i := range ps.Containers {
		defaultResources(&ps.Containers[i], cfg.Defaults)
	}
	if i := serving(ps.Containers); i >= 0 {
		defaultReadiness(&ps.Containers[i])
	}
	readOnly := readOnlyVolumes(ps)
	for _, containers := range [][]corev1.Container{ps.Containers, ps.InitContainers} {
		for i := range containers {
			defaultProbes(&containers[i])
			defaultMounts(&containers[i], readOnly)
			secureContainer(&containers[i], ps, cfg.Features.SecurePodDefaults)
		}
	}
	if ps.EnableServiceLinks == nil && apis.IsInCreate(ctx) {
		ps.EnableServiceLinks = cfg.Defaults.EnableServiceLinks
	}
}

// nameContainers names the unnamed: the template alone for a single container,
// else with the first number that is free.
func nameContainers(ctx context.Context, ps *corev1.PodSpec, d *config.Defaults) {
	taken := map[string]bool{}
	for _, c := range slices.Concat(ps.Containers, ps.InitContainers) {
		taken[c.Name] = true
	}
	meta := apis.ParentMeta(ctx)
	nameAll(ps.Containers, d.ContainerName(meta), taken)
	nameAll(ps.InitContainers, d.InitContainerName(meta), taken)
}

func nameAll(containers []corev1.Container, name string, taken map[string]bool) {
	for i := range containers {
		c := &containers[i]
		if c.Name != "" {
			continue
		}
		c.Name = name
		for n := 0; taken[c.Name] || (len(containers) > 1 && c.Name == name); n++ {
			c.Name = fmt.Sprintf("%s-%d", name, n)
		}
		taken[c.Name] = true
	}
}

func defaultResources(c *corev1.Container, d *config.Defaults) {
	if c.Resources.Requests == nil {
		c.Resources.Requests = corev1.ResourceList{}
	}
	if c.Resources.Limits == nil {
		c.Resources.Limits = corev1.ResourceList{}
	}
	set := func(list corev1.ResourceList, name corev1.ResourceName, quantity *resource.Quantity) {
		if _, ok := list[name]; !ok && quantity != nil {
			list[name] = quantity.DeepCopy()
		}
	}
	set(c.Resources.Requests, corev1.ResourceCPU, d.RevisionCPURequest)
	set(c.Resources.Requests, corev1.ResourceMemory, d.RevisionMemoryRequest)
	set(c.Resources.Requests, corev1.ResourceEphemeralStorage, d.RevisionEphemeralStorageRequest)
	set(c.Resources.Limits, corev1.ResourceCPU, d.RevisionCPULimit)
	set(c.Resources.Limits, corev1.ResourceMemory, d.RevisionMemoryLimit)
	set(c.Resources.Limits, corev1.ResourceEphemeralStorage, d.RevisionEphemeralStorageLimit)
}

// defaultReadiness makes a container ready once it accepts a connection, unless
// it says otherwise.
func defaultReadiness(c *corev1.Container) {
	if c.ReadinessProbe == nil {
		c.ReadinessProbe = &corev1.Probe{}
	}
	if (c.ReadinessProbe.ProbeHandler == corev1.ProbeHandler{}) {
		c.ReadinessProbe.TCPSocket = &corev1.TCPSocketAction{}
	}
}

func defaultProbes(c *corev1.Container) {
	for _, p := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		if p != nil && p.GRPC != nil && p.GRPC.Service == nil {
			empty := ""
			p.GRPC.Service = &empty
		}
	}
	p := c.ReadinessProbe
	if p == nil {
		return
	}
	setIfZero(&p.SuccessThreshold, 1)
	if p.PeriodSeconds != 0 {
		setIfZero(&p.FailureThreshold, 3)
		setIfZero(&p.TimeoutSeconds, 1)
	}
}

func setIfZero(field *int32, value int32) {
	if *field == 0 {
		*field = value
	}
}

func readOnlyVolumes(ps *corev1.PodSpec) map[string]bool {
	out := map[string]bool{}
	for i := range ps.Volumes {
		out[ps.Volumes[i].Name] = !writable(&ps.Volumes[i])
	}
	return out
}

func defaultMounts(c *corev1.Container, readOnly map[string]bool) {
	for i := range c.VolumeMounts {
		if readOnly[c.VolumeMounts[i].Name] {
			c.VolumeMounts[i].ReadOnly = true
		}
	}
}

// secureContainer fills in what the restricted pod security level asks for.
func secureContainer(c *corev1.Container, ps *corev1.PodSpec, flag config.Flag) {
	if flag != config.Enabled && flag != config.AllowRootBounded {
		return
	}
	pod := ps.SecurityContext
	if pod == nil {
		pod = &corev1.PodSecurityContext{}
	}
	if c.SecurityContext == nil {
		c.SecurityContext = &corev1.SecurityContext{}
	}
	sc := c.SecurityContext
	if sc.AllowPrivilegeEscalation == nil {
		sc.AllowPrivilegeEscalation = boolPtr(false)
	}
	if pod.SeccompProfile == nil && sc.SeccompProfile == nil {
		sc.SeccompProfile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}
	}
	if sc.Capabilities == nil {
		sc.Capabilities = &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}
		if len(c.Ports) > 0 && c.Ports[0].ContainerPort > 0 && c.Ports[0].ContainerPort < 1024 {
			sc.Capabilities.Add = []corev1.Capability{"NET_BIND_SERVICE"}
		}
	}
	if flag == config.Enabled && pod.RunAsNonRoot == nil && sc.RunAsNonRoot == nil {
		sc.RunAsNonRoot = boolPtr(true)
	}
}

func boolPtr(b bool) *bool { return &b }
