// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"cmp"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"weir.dev/api/serving"
	v1 "weir.dev/api/serving/v1"
)

const (
	// UserPortName is the name of the port that requests go to.
	UserPortName = "user-port"
	// DefaultUserPort is that port where the Revision names none.
	DefaultUserPort = 8080
	// DrainPath begins the path that a stopping container calls; namespace and revision UID follow.
	DrainPath = "/drain/"
)

// serve makes c the container that requests go to.
func serve(c *corev1.Container, rev *v1.Revision) {
	port := userPort(c)
	c.Ports = []corev1.ContainerPort{{Name: UserPortName, ContainerPort: port, Protocol: corev1.ProtocolTCP}}
	c.Env = append(c.Env, corev1.EnvVar{Name: "PORT", Value: strconv.Itoa(int(port))})
	for _, p := range []*corev1.Probe{c.ReadinessProbe, c.LivenessProbe, c.StartupProbe} {
		completeProbe(p, port)
	}
}

// userPort returns the port of the serving container.
func userPort(c *corev1.Container) int32 {
	if len(c.Ports) == 0 {
		return DefaultUserPort
	}
	return cmp.Or(c.Ports[0].ContainerPort, DefaultUserPort)
}

// complete gives any container its pinned image, the environment that tells it what it is, and our defaults.
func complete(c *corev1.Container, rev *v1.Revision, images map[string]string) {
	if image := images[c.Name]; image != "" {
		c.Image = image
	}
	c.Env = append(c.Env,
		corev1.EnvVar{Name: "K_REVISION", Value: rev.Name},
		corev1.EnvVar{Name: "K_CONFIGURATION", Value: rev.Labels[serving.ConfigurationLabelKey]},
		corev1.EnvVar{Name: "K_SERVICE", Value: rev.Labels[serving.ServiceLabelKey]},
	)
	if c.ReadinessProbe != nil { // 0 means "continuously"; 1 s is the shortest that Kubernetes knows
		c.ReadinessProbe.PeriodSeconds = cmp.Or(c.ReadinessProbe.PeriodSeconds, 1)
	}
	if c.TerminationMessagePolicy == "" {
		c.TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError
	}
	c.Stdin, c.TTY = false, false
}

// completeProbe fills in the port, which users may leave out. All else keeps its plain Kubernetes meaning (design.md,
// Readiness).
func completeProbe(p *corev1.Probe, port int32) {
	switch {
	case p == nil:
	case p.HTTPGet != nil:
		p.HTTPGet.Port = probePort(p.HTTPGet.Port, port)
	case p.TCPSocket != nil:
		p.TCPSocket.Port = probePort(p.TCPSocket.Port, port)
	case p.GRPC != nil:
		p.GRPC.Port = cmp.Or(p.GRPC.Port, port)
	}
}

// probePort resolves a port that is left out or given by the name that the port had before it became UserPortName.
func probePort(given intstr.IntOrString, port int32) intstr.IntOrString {
	if given.Type == intstr.Int && given.IntVal != 0 {
		return given
	}
	return intstr.FromInt32(port)
}

// drainHook makes a stopping container wait until no gateway has a request for it.
func drainHook(rev *v1.Revision, s Settings) *corev1.Lifecycle {
	if !s.Drain.IsValid() {
		return nil
	}
	return &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{
		Host:   s.Drain.Addr().String(),
		Port:   intstr.FromInt32(int32(s.Drain.Port())),
		Path:   DrainPath + rev.Namespace + "/" + string(rev.UID),
		Scheme: corev1.URISchemeHTTP,
	}}}
}
