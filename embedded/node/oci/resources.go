// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package oci

import (
	specs "github.com/opencontainers/runtime-spec/specs-go"
	corev1 "k8s.io/api/core/v1"
)

// Limits are the numbers of one cgroup; 0 leaves the kernel's default.
type Limits struct {
	// Shares is the relative weight of CPU time, 1024 for one core.
	Shares uint64
	// Quota is the CPU time in microseconds that each Period allows.
	Quota  int64
	Period uint64
	// Memory is the limit in bytes.
	Memory int64
}

// ContainerLimits are the limits of one container, by Kubernetes' rules.
func ContainerLimits(r corev1.ResourceRequirements) Limits {
	request := r.Requests.Cpu().MilliValue()
	if _, set := r.Requests[corev1.ResourceCPU]; !set {
		request = r.Limits.Cpu().MilliValue()
	}
	limits := Limits{Shares: shares(request), Memory: r.Limits.Memory().Value()}
	limits.setQuota(r.Limits.Cpu().MilliValue())
	return limits
}

// PodLimits are the limits of the cgroup around a pod's containers. A resource
// is limited only if every container limits it.
func PodLimits(pod *corev1.Pod) Limits {
	var request, cpu, memory int64
	allCPU, allMemory := true, true
	for _, c := range pod.Spec.Containers {
		milli := c.Resources.Requests.Cpu().MilliValue()
		if milli == 0 {
			milli = c.Resources.Limits.Cpu().MilliValue()
		}
		request += milli
		cpu += c.Resources.Limits.Cpu().MilliValue()
		memory += c.Resources.Limits.Memory().Value()
		allCPU = allCPU && !c.Resources.Limits.Cpu().IsZero()
		allMemory = allMemory && !c.Resources.Limits.Memory().IsZero()
	}
	for _, c := range pod.Spec.InitContainers {
		cpu = max(cpu, c.Resources.Limits.Cpu().MilliValue())
		memory = max(memory, c.Resources.Limits.Memory().Value())
		request = max(request, c.Resources.Requests.Cpu().MilliValue())
		allCPU = allCPU && !c.Resources.Limits.Cpu().IsZero()
		allMemory = allMemory && !c.Resources.Limits.Memory().IsZero()
	}
	limits := Limits{Shares: shares(request)}
	if allCPU {
		limits.setQuota(cpu)
	}
	if allMemory {
		limits.Memory = memory
	}
	return limits
}

func (l *Limits) setQuota(milli int64) {
	if milli <= 0 {
		return
	}
	const period, least = 100_000, 1_000
	l.Period = period
	l.Quota = max(milli*period/1000, least)
}

func shares(milli int64) uint64 {
	const least, most = 2, 262_144
	return uint64(min(max(milli*1024/1000, least), most))
}

func resources(req Request) *specs.LinuxResources {
	limits := ContainerLimits(req.Container.Resources)
	set := &specs.LinuxResources{
		CPU: &specs.LinuxCPU{Shares: &limits.Shares},
		// The runtime adds the default devices to an otherwise closed list.
		Devices: []specs.LinuxDeviceCgroup{{Allow: false, Access: "rwm"}},
	}
	if limits.Quota > 0 {
		set.CPU.Quota, set.CPU.Period = &limits.Quota, &limits.Period
	}
	if limits.Memory > 0 {
		set.Memory = &specs.LinuxMemory{Limit: &limits.Memory}
		if req.Machine.SwapAccounting {
			// Memory and swap together: a limited container gets no swap.
			set.Memory.Swap = &limits.Memory
		}
		if req.Machine.CgroupV2 {
			set.Unified = map[string]string{"memory.oom.group": "1"}
		}
	}
	return set
}

// oomScoreAdj orders who is killed first when the machine runs out of memory,
// by Kubernetes' quality of service, and never below our own score.
func oomScoreAdj(req Request) int {
	const guaranteed, bestEffort = -997, 1000
	score := 0
	switch req.Pod.Status.QOSClass {
	case corev1.PodQOSGuaranteed:
		score = guaranteed
	case corev1.PodQOSBestEffort:
		score = bestEffort
	default:
		score = burstableScore(req.Container.Resources.Requests.Memory().Value(), req.Machine.Memory)
	}
	return max(score, req.Machine.OOMScoreAdj)
}

func burstableScore(request, memory int64) int {
	const least, most = 3, 999
	if memory <= 0 {
		return most
	}
	return int(min(max(1000-1000*request/memory, least), most))
}
