// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"weir.dev/api/networking"
	netv1alpha1 "weir.dev/api/networking/v1alpha1"
	"weir.dev/api/serving"
	v1 "weir.dev/api/serving/v1"
	"weir.dev/internal/controlplane/route/hosts"
	"weir.dev/pkg/kmap"
	"weir.dev/pkg/kmeta"
	"weir.dev/pkg/ptr"
)

// errLoadBalancer is an Ingress that says where requests go in a way that no k8s Service can express.
var errLoadBalancer = errors.New("the Ingress names no single load balancer that a Service can lead to")

// Service returns the k8s Service through which DNS in the cluster knows a group. existing is what is there, nil if nothing
// is; its label for visibility is the user's. entry is where the Ingress takes requests, nil while that is not known.
func Service(route *v1.Route, n hosts.Names, existing *corev1.Service, entry *netv1alpha1.LoadBalancerIngressStatus) (*corev1.Service, error) {
	svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{
		Name:            n.Service,
		Namespace:       route.Namespace,
		OwnerReferences: []metav1.OwnerReference{*kmeta.NewControllerRef(route)},
	}}
	visibility, labelled := "", false
	if existing != nil {
		svc = existing.DeepCopy()
		visibility, labelled = existing.Labels[networking.VisibilityLabelKey]
	}
	svc.Labels = kmap.ExcludeKeys(route.Labels, networking.VisibilityLabelKey)
	svc.Labels[serving.RouteLabelKey] = route.Name
	if labelled {
		svc.Labels[networking.VisibilityLabelKey] = visibility
	}
	svc.Annotations = kmap.Copy(route.Annotations)
	return svc, lead(&svc.Spec, n, entry, existing == nil)
}

// IsLocal says whether the user keeps the tag of a k8s Service of ours inside the cluster.
func IsLocal(svc *corev1.Service) bool { return svc.Labels[networking.VisibilityLabelKey] != "" }

// Entry returns where an Ingress takes requests from inside the cluster, or, where it does not say, from anywhere.
func Entry(status *netv1alpha1.IngressStatus) (*netv1alpha1.LoadBalancerIngressStatus, error) {
	balancer := status.PrivateLoadBalancer
	if balancer == nil || len(balancer.Ingress) == 0 {
		balancer = status.PublicLoadBalancer
	}
	if balancer == nil || len(balancer.Ingress) != 1 {
		return nil, errLoadBalancer
	}
	return &balancer.Ingress[0], nil
}

// lead points spec to where requests go. While that is not known, what is there stays.
func lead(spec *corev1.ServiceSpec, n hosts.Names, entry *netv1alpha1.LoadBalancerIngressStatus, fresh bool) error {
	switch {
	case entry == nil && !fresh:
	case entry == nil:
		alias(spec, placeholder(n))
	case entry.DomainInternal != "":
		alias(spec, entry.DomainInternal)
	case entry.Domain != "":
		alias(spec, entry.Domain)
	case entry.MeshOnly:
		mesh(spec)
	default:
		return errLoadBalancer
	}
	return nil
}

// placeholder is what a name stands for until the Ingress is ready: the host outside, or nothing that exists.
func placeholder(n hosts.Names) string {
	if n.External != "" {
		return n.External
	}
	return n.Service + ".invalid"
}

// alias makes spec another name for host.
func alias(spec *corev1.ServiceSpec, host string) {
	if spec.Type != corev1.ServiceTypeExternalName {
		*spec = corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, SessionAffinity: corev1.ServiceAffinityNone}
	}
	spec.ExternalName = host
	spec.Ports = []corev1.ServicePort{{
		Name:        networking.ServicePortNameH2C,
		Protocol:    corev1.ProtocolTCP,
		AppProtocol: ptr.String("kubernetes.io/h2c"),
		Port:        networking.ServiceHTTPPort,
		TargetPort:  intstr.FromInt32(networking.ServiceHTTPPort),
	}}
}

// mesh makes spec a name that a service mesh takes requests for.
func mesh(spec *corev1.ServiceSpec) {
	if spec.Type == corev1.ServiceTypeExternalName {
		*spec = corev1.ServiceSpec{}
	}
	spec.Type = corev1.ServiceTypeClusterIP
	spec.SessionAffinity = corev1.ServiceAffinityNone
	spec.Ports = []corev1.ServicePort{{
		Name:       networking.ServicePortNameHTTP1,
		Protocol:   corev1.ProtocolTCP,
		Port:       networking.ServiceHTTPPort,
		TargetPort: intstr.FromInt32(networking.ServiceHTTPPort),
	}}
}
