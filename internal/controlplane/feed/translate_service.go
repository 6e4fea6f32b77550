// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"weir.dev/internal/feed/feedpb"
)

// ref names an object.
type ref struct{ namespace, name string }

func (r ref) pb() *feedpb.Ref { return &feedpb.Ref{Namespace: r.namespace, Name: r.name} }

// servicePort is a port of a plain Service that an Ingress leads to.
type servicePort struct {
	ref  ref
	port intstr.IntOrString
}

// backend names the backend that the port is. The colon keeps it apart from revisions.
func (s servicePort) backend() ref {
	return ref{s.ref.namespace, s.ref.name + ":" + s.port.String()}
}

// translateService is the backend and the instances of a Service's port; svc is nil while there is no such Service.
func translateService(want servicePort, svc *corev1.Service, endpoints []*discoveryv1.EndpointSlice) (*feedpb.Backend, *feedpb.Instances) {
	name := want.backend()
	backend := &feedpb.Backend{
		Namespace: name.namespace, Name: name.name, Kind: feedpb.Backend_SERVICE,
		Probe: &feedpb.Probe{Kind: feedpb.Probe_TCP, TimeoutMs: time.Second.Milliseconds()},
	}
	instances := &feedpb.Instances{Backend: name.pb()}
	if svc == nil {
		backend.FailureReason, backend.FailureMessage = "ServiceNotFound", "there is no Service "+want.ref.name
		return backend, instances
	}
	backend.Uid = string(svc.UID)
	port := findPort(svc, want.port)
	if port == nil {
		backend.FailureReason = "PortNotFound"
		backend.FailureMessage = "Service " + want.ref.name + " has no port " + want.port.String()
		return backend, instances
	}
	backend.Protocol = serviceProtocol(port)
	if svc.Spec.Type == corev1.ServiceTypeExternalName {
		instances.Instances = []*feedpb.Instance{external(svc, port)}
		return backend, instances
	}
	for _, slice := range endpoints {
		instances.Instances = append(instances.Instances, sliceInstances(slice, port.Name)...)
	}
	slices.SortFunc(instances.Instances, func(a, b *feedpb.Instance) int { return strings.Compare(a.Uid, b.Uid) })
	return backend, instances
}

func findPort(svc *corev1.Service, want intstr.IntOrString) *corev1.ServicePort {
	for i := range svc.Spec.Ports {
		p := &svc.Spec.Ports[i]
		if (want.Type == intstr.Int && p.Port == want.IntVal) || (want.Type == intstr.String && p.Name == want.StrVal) {
			return p
		}
	}
	return nil
}

func serviceProtocol(port *corev1.ServicePort) feedpb.Backend_Protocol {
	app := ""
	if port.AppProtocol != nil {
		app = *port.AppProtocol
	}
	if app == "kubernetes.io/h2c" || port.Name == "http2" || port.Name == "h2c" {
		return feedpb.Backend_H2C
	}
	return feedpb.Backend_HTTP1
}

// external is the only instance of an ExternalName Service. Nobody tells whether it serves.
func external(svc *corev1.Service, port *corev1.ServicePort) *feedpb.Instance {
	return &feedpb.Instance{
		Name: svc.Spec.ExternalName, Uid: svc.Spec.ExternalName, State: feedpb.Instance_READY,
		Address: net.JoinHostPort(svc.Spec.ExternalName, strconv.Itoa(int(port.Port))),
	}
}

func sliceInstances(slice *discoveryv1.EndpointSlice, portName string) []*feedpb.Instance {
	if slice.AddressType == discoveryv1.AddressTypeFQDN {
		return nil
	}
	number := int32(0)
	for _, p := range slice.Ports {
		if p.Port != nil && (p.Name == nil && portName == "" || p.Name != nil && *p.Name == portName) {
			number = *p.Port
		}
	}
	if number == 0 {
		return nil
	}
	var out []*feedpb.Instance
	for i := range slice.Endpoints {
		if in := endpointInstance(&slice.Endpoints[i], number); in != nil {
			out = append(out, in)
		}
	}
	return out
}

// endpointInstance is nil for an endpoint that takes nothing.
func endpointInstance(e *discoveryv1.Endpoint, port int32) *feedpb.Instance {
	if len(e.Addresses) == 0 {
		return nil
	}
	out := &feedpb.Instance{Address: net.JoinHostPort(e.Addresses[0], strconv.Itoa(int(port)))}
	out.Name, out.Uid = out.Address, out.Address
	if e.TargetRef != nil && e.TargetRef.UID != "" {
		out.Name, out.Uid = e.TargetRef.Name, string(e.TargetRef.UID)
	}
	switch {
	case isTrue(e.Conditions.Terminating, false):
		out.State = feedpb.Instance_TERMINATING
	case isTrue(e.Conditions.Ready, true):
		out.State = feedpb.Instance_READY
	default:
		return nil
	}
	return out
}

func isTrue(b *bool, unset bool) bool {
	if b == nil {
		return unset
	}
	return *b
}
