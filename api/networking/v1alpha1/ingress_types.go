// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"weir.dev/pkg/apis"
	duckv1 "weir.dev/pkg/apis/duck/v1"
)

// Ingress is a set of rules that let requests reach the backends of a Route or
// a DomainMapping.
//
// +genclient
// +genreconciler:class=networking.knative.dev/ingress.class
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Ingress struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	// +optional
	Spec IngressSpec `json:"spec,omitempty"`

	// Status is the current state.
	// +optional
	Status IngressStatus `json:"status,omitempty"`
}

// IngressList is a list of Ingresses.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type IngressList struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the Ingresses.
	Items []Ingress `json:"items"`
}

// HTTPOption is what happens to requests over plain HTTP.
type HTTPOption string

const (
	// HTTPOptionEnabled serves them.
	HTTPOptionEnabled HTTPOption = "Enabled"
	// HTTPOptionRedirected redirects them to HTTPS.
	HTTPOptionRedirected HTTPOption = "Redirected"
)

// IngressSpec says which hosts lead where.
type IngressSpec struct {
	// HTTPOption is what happens to plain HTTP: Enabled or Redirected.
	// +optional
	HTTPOption HTTPOption `json:"httpOption,omitempty"`

	// TLS lists the certificates of hosts.
	// +optional
	TLS []IngressTLS `json:"tls,omitempty"`

	// Rules lead hosts to backends; the first rule with the host counts.
	// +optional
	Rules []IngressRule `json:"rules,omitempty"`
}

// IngressVisibility is who can reach a rule's hosts.
type IngressVisibility string

const (
	// IngressVisibilityExternalIP is everybody.
	IngressVisibilityExternalIP IngressVisibility = "ExternalIP"
	// IngressVisibilityClusterLocal is pods of the cluster only.
	IngressVisibilityClusterLocal IngressVisibility = "ClusterLocal"
)

// IngressTLS is the certificate of some hosts.
type IngressTLS struct {
	// Hosts that the certificate is for.
	// +optional
	Hosts []string `json:"hosts,omitempty"`

	// SecretName is the Secret with the certificate.
	SecretName string `json:"secretName"`

	// SecretNamespace is the namespace of that Secret.
	SecretNamespace string `json:"secretNamespace"`
}

// IngressRule leads hosts to backends.
type IngressRule struct {
	// Hosts are fully qualified names, without a port.
	// +optional
	Hosts []string `json:"hosts,omitempty"`

	// Visibility is who can reach the hosts: ExternalIP or ClusterLocal.
	// +optional
	Visibility IngressVisibility `json:"visibility,omitempty"`

	// HTTP holds the paths.
	HTTP *HTTPIngressRuleValue `json:"http,omitempty"`
}

// HTTPIngressRuleValue holds the paths of a rule.
type HTTPIngressRuleValue struct {
	// Paths that are served; the most specific one counts.
	Paths []HTTPIngressPath `json:"paths"`
}

// HTTPIngressPath leads requests to backends by path and headers.
type HTTPIngressPath struct {
	// Path is a prefix; empty matches everything.
	// +optional
	Path string `json:"path,omitempty"`

	// RewriteHost replaces the Host header on the way to the backend.
	// +optional
	RewriteHost string `json:"rewriteHost,omitempty"`

	// Headers must all match.
	// +optional
	Headers map[string]HeaderMatch `json:"headers,omitempty"`

	// Splits are the backends with their shares of the requests.
	Splits []IngressBackendSplit `json:"splits"`

	// AppendHeaders are set on the request before those of the split.
	// +optional
	AppendHeaders map[string]string `json:"appendHeaders,omitempty"`
}

// IngressBackendSplit is a backend with its share of the requests.
type IngressBackendSplit struct {
	// IngressBackend is where the requests go.
	IngressBackend `json:",inline"`

	// Percent of the requests; a single split has 100.
	// +optional
	Percent int `json:"percent,omitempty"`

	// AppendHeaders are set on the request.
	// +optional
	AppendHeaders map[string]string `json:"appendHeaders,omitempty"`
}

// IngressBackend names a port of a service.
type IngressBackend struct {
	// ServiceNamespace is the namespace of the service; that of the Ingress.
	ServiceNamespace string `json:"serviceNamespace"`

	// ServiceName is the service.
	ServiceName string `json:"serviceName"`

	// ServicePort is the port, a number or a name.
	ServicePort intstr.IntOrString `json:"servicePort"`
}

// HeaderMatch is a condition on a header.
type HeaderMatch struct {
	// Exact is the value that the header must have.
	Exact string `json:"exact"`
}

// IngressStatus is the current state of an Ingress.
type IngressStatus struct {
	duckv1.Status `json:",inline"`

	// PublicLoadBalancer is where requests from outside go.
	// +optional
	PublicLoadBalancer *LoadBalancerStatus `json:"publicLoadBalancer,omitempty"`

	// PrivateLoadBalancer is where requests from inside the cluster go.
	// +optional
	PrivateLoadBalancer *LoadBalancerStatus `json:"privateLoadBalancer,omitempty"`
}

// LoadBalancerStatus is where a load balancer is.
type LoadBalancerStatus struct {
	// Ingress lists its points of entry.
	// +optional
	Ingress []LoadBalancerIngressStatus `json:"ingress,omitempty"`
}

// LoadBalancerIngressStatus is one point of entry.
type LoadBalancerIngressStatus struct {
	// IP of a load balancer that has one.
	// +optional
	IP string `json:"ip,omitempty"`

	// Domain is a name outside the cluster.
	// +optional
	Domain string `json:"domain,omitempty"`

	// DomainInternal is a name inside the cluster.
	// +optional
	DomainInternal string `json:"domainInternal,omitempty"`

	// MeshOnly says that only a service mesh leads there.
	// +optional
	MeshOnly bool `json:"meshOnly,omitempty"`
}

const (
	// IngressConditionReady is the summary.
	IngressConditionReady = apis.ConditionReady
	// IngressConditionNetworkConfigured says that all proxies serve the rules.
	IngressConditionNetworkConfigured apis.ConditionType = "NetworkConfigured"
	// IngressConditionLoadBalancerReady says that the points of entry are known.
	IngressConditionLoadBalancerReady apis.ConditionType = "LoadBalancerReady"
)

// GetGroupVersionKind returns the kind.
func (*Ingress) GetGroupVersionKind() schema.GroupVersionKind {
	return SchemeGroupVersion.WithKind("Ingress")
}

// GetStatus returns the common part of the status, not a copy.
func (i *Ingress) GetStatus() *duckv1.Status { return &i.Status.Status }
