// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/pkg/ptr"
)

// try asks whether a Service would be created, and as what.
func (s *space) try(changes ...change) (*servingv1.Service, error) {
	return s.Serving.ServingV1().Services(s.ns).Create(s.ctx, probe("app", changes...), metav1.CreateOptions{DryRun: dry})
}

func ports(list ...corev1.ContainerPort) change {
	return container(func(c *corev1.Container) { c.Ports = list })
}

func security(context corev1.SecurityContext) change {
	return container(func(c *corev1.Container) { c.SecurityContext = &context })
}

// mounted gives the container a volume, mounted in a way.
func mounted(source corev1.VolumeSource, with func(*corev1.VolumeMount)) change {
	return func(svc *servingv1.Service) {
		svc.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: source}}
		mount := corev1.VolumeMount{Name: "v", MountPath: "/v"}
		with(&mount)
		svc.Spec.Template.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{mount}
	}
}

// What developers "MUST NOT" configure is refused.
func TestRuntimeMustNot(t *testing.T) {
	s := parallelSpace(t)
	empty := corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
	propagation := corev1.MountPropagationBidirectional
	if _, err := s.try(mounted(empty, func(*corev1.VolumeMount) {})); err != nil {
		t.Fatalf("a Service with a volume is refused: %v", err)
	}
	named := readiness(each(corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromString("http1")}}))
	if _, err := s.try(ports(corev1.ContainerPort{Name: "http1", ContainerPort: 8080}), named); err != nil {
		t.Errorf("a Service with a probe of its port's name is refused: %v", err)
	}
	for name, forbidden := range map[string]change{
		"R7: an arbitrary name of a port": ports(corev1.ContainerPort{Name: "arbitrary", ContainerPort: 8080}),
		"R6: a second port":               ports(corev1.ContainerPort{ContainerPort: 8080}, corev1.ContainerPort{ContainerPort: 8081}),
		"a protocol other than TCP":       ports(corev1.ContainerPort{ContainerPort: 8080, Protocol: corev1.ProtocolUDP}),
		"a port of the platform":          ports(corev1.ContainerPort{ContainerPort: 8012}),
		"R11: a probe of another port's name": readiness(each(corev1.ProbeHandler{
			HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromString("other")}})),
		"R17: mount propagation": mounted(empty, func(m *corev1.VolumeMount) { m.MountPropagation = &propagation }),
		"R17: /dev":              mounted(empty, func(m *corev1.VolumeMount) { m.MountPath = "/dev" }),
		"R17: the root":          mounted(empty, func(m *corev1.VolumeMount) { m.MountPath = "/" }),
		"R17: a directory of the node": mounted(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}},
			func(m *corev1.VolumeMount) { m.ReadOnly = true }),
		"S15: user -10":                   asUser(-10),
		"S15: group -10":                  security(corev1.SecurityContext{RunAsGroup: ptr.Int64(-10)}),
		"R17: a variable of the platform": variable("K_SERVICE", "mine"),
	} {
		if _, err := s.try(forbidden); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// What developers "SHOULD NOT" configure, and what would give them the machine, is refused, or left out of what is stored.
func TestRuntimeShouldNot(t *testing.T) {
	s := parallelSpace(t)
	unmasked := corev1.UnmaskedProcMount
	type podSpec = corev1.PodSpec
	pod := func(with func(*podSpec)) change {
		return func(svc *servingv1.Service) { with(&svc.Spec.Template.Spec.PodSpec) }
	}
	hook := &corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/"}}
	secured := func(p podSpec) corev1.SecurityContext {
		if c := p.Containers[0].SecurityContext; c != nil {
			return *c
		}
		return corev1.SecurityContext{}
	}
	lifecycle := func(p podSpec) bool { return p.Containers[0].Lifecycle != nil }
	cases := map[string]struct {
		change change
		kept   func(podSpec) bool
	}{
		"S2: a port of the node": {ports(corev1.ContainerPort{ContainerPort: 8080, HostPort: 80}),
			func(p podSpec) bool { return len(p.Containers[0].Ports) > 0 && p.Containers[0].Ports[0].HostPort != 0 }},
		"S13: tty":       {container(func(c *corev1.Container) { c.TTY = true }), func(p podSpec) bool { return p.Containers[0].TTY }},
		"S13: stdin":     {container(func(c *corev1.Container) { c.Stdin = true }), func(p podSpec) bool { return p.Containers[0].Stdin }},
		"S13: stdinOnce": {container(func(c *corev1.Container) { c.StdinOnce = true }), func(p podSpec) bool { return p.Containers[0].StdinOnce }},
		"S14: postStart": {container(func(c *corev1.Container) { c.Lifecycle = &corev1.Lifecycle{PostStart: hook} }), lifecycle},
		"S14: preStop":   {container(func(c *corev1.Container) { c.Lifecycle = &corev1.Lifecycle{PreStop: hook} }), lifecycle},
		"R17: unmasked /proc": {security(corev1.SecurityContext{ProcMount: &unmasked}),
			func(p podSpec) bool { return secured(p).ProcMount != nil }},
		"R17: privileged": {security(corev1.SecurityContext{Privileged: ptr.Bool(true)}),
			func(p podSpec) bool { return secured(p).Privileged != nil }},
		"R17: more capabilities": {security(corev1.SecurityContext{Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"SYS_ADMIN"}}}),
			func(p podSpec) bool { return secured(p).Capabilities != nil && len(secured(p).Capabilities.Add) > 0 }},
		"R17: a block device": {container(func(c *corev1.Container) { c.VolumeDevices = []corev1.VolumeDevice{{Name: "v", DevicePath: "/dev/v"}} }),
			func(p podSpec) bool { return len(p.Containers[0].VolumeDevices) > 0 }},
		"R17: the node's network":   {pod(func(p *podSpec) { p.HostNetwork = true }), func(p podSpec) bool { return p.HostNetwork }},
		"R17: the node's processes": {pod(func(p *podSpec) { p.HostPID = true }), func(p podSpec) bool { return p.HostPID }},
		"R17: the node's memory":    {pod(func(p *podSpec) { p.HostIPC = true }), func(p podSpec) bool { return p.HostIPC }},
		"R17: processes in common":  {pod(func(p *podSpec) { p.ShareProcessNamespace = ptr.Bool(true) }), func(p podSpec) bool { return p.ShareProcessNamespace != nil }},
		"S20: settings of the kernel": {pod(func(p *podSpec) {
			p.SecurityContext = &corev1.PodSecurityContext{Sysctls: []corev1.Sysctl{{Name: "net.core.somaxconn", Value: "9"}}}
		}), func(p podSpec) bool { return p.SecurityContext != nil && len(p.SecurityContext.Sysctls) > 0 }},
		"S8: another restart policy": {pod(func(p *podSpec) { p.RestartPolicy = corev1.RestartPolicyNever }), func(p podSpec) bool { return p.RestartPolicy != "" }},
	}
	for name, tc := range cases {
		svc, err := s.try(tc.change)
		if err == nil && tc.kept(svc.Spec.Template.Spec.PodSpec) {
			t.Errorf("%s: accepted and kept", name)
		}
	}
}
