// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package networking holds the names of the networking API groups: the
// internal one (networking.internal.knative.dev), which ingress implementations
// are written against, and the public prefix (networking.knative.dev) of what
// users annotate.
package networking

import "weir.dev/pkg/kmap"

const (
	// GroupName is the API group of Ingress.
	GroupName = "networking.internal.knative.dev"
	// PublicGroupName is the prefix of annotations and labels for users.
	PublicGroupName = "networking.knative.dev"
)

// Classes.
const (
	// WeirIngressClassName is the class of the Ingresses that Weir's gateways
	// serve.
	WeirIngressClassName = "weir.ingress.networking.knative.dev"
	// CertManagerCertificateClassName is the default certificate class.
	CertManagerCertificateClassName = "cert-manager.certificate.networking.knative.dev"
)

// Annotations and labels.
const (
	// IngressClassAnnotationKey says which implementation handles an Ingress.
	IngressClassAnnotationKey = PublicGroupName + "/ingress.class"
	// CertificateClassAnnotationKey says which implementation handles a
	// Certificate.
	CertificateClassAnnotationKey = PublicGroupName + "/certificate.class"
	// DisableAutoTLSAnnotationKey turns off external TLS for a Route.
	DisableAutoTLSAnnotationKey = PublicGroupName + "/disableAutoTLS"
	// HTTPOptionAnnotationKey is what happens to plain HTTP: enabled or
	// redirected.
	HTTPOptionAnnotationKey = PublicGroupName + "/httpOption"
	// VisibilityLabelKey, "cluster-local", keeps a Route inside the cluster.
	VisibilityLabelKey = PublicGroupName + "/visibility"
	// VisibilityClusterLocal is that label's value.
	VisibilityClusterLocal = "cluster-local"
	// WildcardCertDomainLabelKey marks wildcard certificates.
	WildcardCertDomainLabelKey = PublicGroupName + "/wildcardDomain"
	// CertificateTypeLabelKey is what a certificate is for.
	CertificateTypeLabelKey = PublicGroupName + "/certificate-type"
	// TrustBundleLabelKey marks ConfigMaps with certification authorities.
	TrustBundleLabelKey = PublicGroupName + "/trust-bundle"
	// RolloutAnnotationKey is the state of gradual rollouts, JSON, on Ingresses.
	RolloutAnnotationKey = GroupName + "/rollout"
	// TagToHostAnnotationKey maps tags to hosts, JSON, on Ingresses.
	TagToHostAnnotationKey = GroupName + "/tag-to-host"
	// TagLabelKey names a Route's tag.
	TagLabelKey = GroupName + "/tag"
	// SKSLabelKey names the ServerlessService that a k8s Service belongs to.
	SKSLabelKey = GroupName + "/serverlessservice"
	// ServiceTypeKey is the kind of that Service, Public or Private.
	ServiceTypeKey = GroupName + "/serviceType"
)

// IngressClassAnnotation returns the spellings of the ingress class.
func IngressClassAnnotation() kmap.KeyPriority {
	return kmap.KeyPriority{IngressClassAnnotationKey, PublicGroupName + "/ingress-class"}
}

// CertificateClassAnnotation returns the spellings of the certificate class.
func CertificateClassAnnotation() kmap.KeyPriority {
	return kmap.KeyPriority{CertificateClassAnnotationKey, PublicGroupName + "/certificate-class"}
}

// DisableAutoTLSAnnotation returns the spellings of the TLS switch.
func DisableAutoTLSAnnotation() kmap.KeyPriority {
	return kmap.KeyPriority{
		DisableAutoTLSAnnotationKey,
		PublicGroupName + "/disable-auto-tls",
		PublicGroupName + "/disable-external-domain-tls",
	}
}

// HTTPProtocolAnnotation returns the spellings of the HTTP option.
func HTTPProtocolAnnotation() kmap.KeyPriority {
	return kmap.KeyPriority{HTTPOptionAnnotationKey, PublicGroupName + "/http-protocol"}
}

// ProtocolType is what a container speaks on its port.
type ProtocolType string

const (
	// ProtocolHTTP1 is HTTP/1.1.
	ProtocolHTTP1 ProtocolType = "http1"
	// ProtocolH2C is HTTP/2 without TLS, with prior knowledge.
	ProtocolH2C ProtocolType = "h2c"
)

// Ports of the k8s Services that Ingress splits refer to.
const (
	// ServiceHTTPPort is for HTTP/1.1.
	ServiceHTTPPort = 80
	// ServiceHTTP2Port is for h2c.
	ServiceHTTP2Port = 81
	// ServicePortNameHTTP1 is the name of the HTTP/1.1 port.
	ServicePortNameHTTP1 = "http"
	// ServicePortNameH2C is the name of the h2c port.
	ServicePortNameH2C = "http2"
)

// ServicePort returns the port for a protocol.
func ServicePort(protocol ProtocolType) int {
	if protocol == ProtocolH2C {
		return ServiceHTTP2Port
	}
	return ServiceHTTPPort
}

// ServicePortName returns the port's name for a protocol.
func ServicePortName(protocol ProtocolType) string {
	if protocol == ProtocolH2C {
		return ServicePortNameH2C
	}
	return ServicePortNameHTTP1
}
