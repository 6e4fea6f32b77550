// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"weir.dev/api/serving"
	v1 "weir.dev/api/serving/v1"
	"weir.dev/internal/feed/feedpb"
)

// defaultPort is the user port of a container that names none.
const defaultPort = 8080

// translateRevision is the backend that a Revision is, without what only its pods tell.
func translateRevision(in *v1.Revision) *feedpb.Backend {
	user := servingContainer(in.Spec.Containers)
	return &feedpb.Backend{
		Namespace: in.Namespace, Name: in.Name, Uid: string(in.UID), Kind: feedpb.Backend_REVISION,
		Protocol:               protocol(user),
		ContainerConcurrency:   limit(in.Spec.ContainerConcurrency),
		TimeoutMs:              milliseconds(in.Spec.TimeoutSeconds),
		ResponseStartTimeoutMs: milliseconds(in.Spec.ResponseStartTimeoutSeconds),
		IdleTimeoutMs:          milliseconds(in.Spec.IdleTimeoutSeconds),
		Probe:                  translateProbe(in.Spec.Containers, user),
		Service:                in.Labels[serving.ServiceLabelKey],
		Configuration:          in.Labels[serving.ConfigurationLabelKey],
	}
}

// servingContainer is the container with the port, else the first; nil if there is none.
func servingContainer(containers []corev1.Container) *corev1.Container {
	for i := range containers {
		if len(containers[i].Ports) > 0 {
			return &containers[i]
		}
	}
	if len(containers) == 0 {
		return nil
	}
	return &containers[0]
}

func protocol(user *corev1.Container) feedpb.Backend_Protocol {
	if user != nil && len(user.Ports) > 0 && user.Ports[0].Name == "h2c" {
		return feedpb.Backend_H2C
	}
	return feedpb.Backend_HTTP1
}

// translateProbe says how a gateway can tell that a starting instance serves (design: Readiness). What it cannot find
// out from outside, or not in the user's sense, is left to the pod's own condition.
func translateProbe(containers []corev1.Container, user *corev1.Container) *feedpb.Probe {
	if user == nil || user.StartupProbe != nil || othersProbed(containers, user) {
		return &feedpb.Probe{Kind: feedpb.Probe_POD_READY}
	}
	probe := user.ReadinessProbe
	if probe == nil {
		return &feedpb.Probe{Kind: feedpb.Probe_TCP, TimeoutMs: time.Second.Milliseconds()}
	}
	out := &feedpb.Probe{TimeoutMs: max(1, int64(probe.TimeoutSeconds)) * 1000}
	switch {
	case probe.SuccessThreshold > 1 || probe.Exec != nil:
		return &feedpb.Probe{Kind: feedpb.Probe_POD_READY}
	case probe.HTTPGet != nil:
		httpProbe(out, probe.HTTPGet, user)
	case probe.GRPC != nil:
		out.Kind = feedpb.Probe_GRPC
		out.Port = probe.GRPC.Port
		if probe.GRPC.Service != nil {
			out.GrpcService = *probe.GRPC.Service
		}
	case probe.TCPSocket != nil:
		out.Kind = feedpb.Probe_TCP
		out.Port = portNumber(probe.TCPSocket.Port, user)
		out.Host = probe.TCPSocket.Host
	}
	return out
}

func httpProbe(out *feedpb.Probe, get *corev1.HTTPGetAction, user *corev1.Container) {
	out.Kind = feedpb.Probe_HTTP
	out.Path = get.Path
	out.Scheme = string(get.Scheme)
	out.Host = get.Host
	out.Port = portNumber(get.Port, user)
	for _, h := range get.HTTPHeaders {
		if out.Headers == nil {
			out.Headers = make(map[string]string, len(get.HTTPHeaders))
		}
		out.Headers[h.Name] = h.Value
	}
}

// othersProbed says that a pod is ready only with more than its serving container.
func othersProbed(containers []corev1.Container, user *corev1.Container) bool {
	for i := range containers {
		if c := &containers[i]; c != user && (c.ReadinessProbe != nil || c.StartupProbe != nil) {
			return true
		}
	}
	return false
}

// portNumber is the number of a probe's port, 0 where that is the user port.
func portNumber(port intstr.IntOrString, user *corev1.Container) int32 {
	if port.Type == intstr.Int {
		return port.IntVal
	}
	for _, p := range user.Ports {
		if p.Name == port.StrVal {
			return p.ContainerPort
		}
	}
	return 0
}

func limit(n *int64) uint32 {
	if n == nil || *n < 0 {
		return 0
	}
	return uint32(min(*n, math.MaxUint32))
}

func milliseconds(seconds *int64) int64 {
	if seconds == nil || *seconds < 0 {
		return 0
	}
	return *seconds * 1000
}
