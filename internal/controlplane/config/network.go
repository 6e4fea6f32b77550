// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"text/template"
	"time"

	corev1 "k8s.io/api/core/v1"

	apiconfig "weir.dev/api/config"
	"weir.dev/api/networking"
	"weir.dev/pkg/configmap"
)

// HTTPProtocol says what the external listeners do with cleartext requests.
type HTTPProtocol string

// The values of the key http-protocol.
const (
	HTTPEnabled    HTTPProtocol = "enabled"
	HTTPDisabled   HTTPProtocol = "disabled"
	HTTPRedirected HTTPProtocol = "redirected"
)

// DefaultDomainTemplate is the domain-template of an empty config-network.
const DefaultDomainTemplate = "{{.Name}}.{{.Namespace}}.{{.Domain}}"

// Network is config-network (facts.md 6.11). Keys of parts that we do not have are accepted and have no effect.
type Network struct {
	// IngressClass and CertificateClass are the classes of Ingresses and Certificates that name none.
	IngressClass, CertificateClass string
	// HTTPProtocol is the default of the httpOption annotation.
	HTTPProtocol HTTPProtocol
	// RolloutDuration is how long traffic takes to move to a new revision; 0 is at once.
	RolloutDuration time.Duration
	// DefaultExternalScheme is the scheme of external URLs without a certificate.
	DefaultExternalScheme string
	// ExternalHTTPPort is the port that clients outside use, written into URLs when it is not 80. The key
	// external-http-port is ours.
	ExternalHTTPPort int
	// AutocreateClusterDomainClaims lets any namespace map a free domain.
	AutocreateClusterDomainClaims bool

	domain *template.Template
	tags   *apiconfig.Network
}

// DomainValues is what a domain-template can use.
type DomainValues struct {
	Name, Namespace, Domain string
	Annotations, Labels     map[string]string
}

func defaultNetwork() *Network {
	return &Network{
		IngressClass:          networking.WeirIngressClassName,
		CertificateClass:      networking.CertManagerCertificateClassName,
		HTTPProtocol:          HTTPEnabled,
		DefaultExternalScheme: "http",
		ExternalHTTPPort:      80,
		domain:                template.Must(template.New("domain-template").Parse(DefaultDomainTemplate)),
		tags:                  apiconfig.FromContextOrDefaults(context.Background()).Network,
	}
}

// NewNetwork parses config-network.
func NewNetwork(cm *corev1.ConfigMap) (*Network, error) {
	n := defaultNetwork()
	seconds, domain := 0, DefaultDomainTemplate
	err := parse(cm,
		asEither("ingress.class", "ingress-class", &n.IngressClass),
		asEither("certificate.class", "certificate-class", &n.CertificateClass),
		asEither("domainTemplate", "domain-template", &domain),
		asEither("httpProtocol", "http-protocol", (*string)(&n.HTTPProtocol)),
		asEither("defaultExternalScheme", "default-external-scheme", &n.DefaultExternalScheme),
		configmap.AsInt("rolloutDuration", &seconds),
		configmap.AsInt("rollout-duration", &seconds),
		configmap.AsInt("external-http-port", &n.ExternalHTTPPort),
		configmap.AsBool("autocreateClusterDomainClaims", &n.AutocreateClusterDomainClaims),
		configmap.AsBool("autocreate-cluster-domain-claims", &n.AutocreateClusterDomainClaims),
	)
	if err != nil {
		return nil, err
	}
	if n.tags, err = apiconfig.NewNetwork(cm.Data); err != nil {
		return nil, fmt.Errorf("ConfigMap %s: %w", cm.Name, err)
	}
	n.RolloutDuration = time.Duration(seconds) * time.Second
	return n, n.check(domain)
}

// check validates what has been read and compiles the domain template.
func (n *Network) check(domain string) error {
	n.HTTPProtocol = HTTPProtocol(strings.ToLower(string(n.HTTPProtocol)))
	n.DefaultExternalScheme = strings.ToLower(n.DefaultExternalScheme)
	switch {
	case n.HTTPProtocol != HTTPEnabled && n.HTTPProtocol != HTTPDisabled && n.HTTPProtocol != HTTPRedirected:
		return fmt.Errorf("config-network: http-protocol %q is not enabled, disabled or redirected", n.HTTPProtocol)
	case n.RolloutDuration < 0:
		return fmt.Errorf("config-network: rollout-duration %s is negative", n.RolloutDuration)
	case n.ExternalHTTPPort < 1 || n.ExternalHTTPPort > 65535:
		return fmt.Errorf("config-network: external-http-port %d is not a port", n.ExternalHTTPPort)
	}
	var err error
	if n.domain, err = template.New("domain-template").Parse(domain); err != nil {
		return fmt.Errorf("config-network: domain-template: %w", err)
	}
	return n.tryTemplates()
}

// tryTemplates expands the templates once, so that a bad one is refused before it meets a Route.
func (n *Network) tryTemplates() error {
	var err error
	for _, values := range n.samples() {
		if _, err = n.Host(values); err == nil {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("config-network: %w", err)
	}
	name, err := n.TagName("v1", "foo")
	switch {
	case err != nil:
		return fmt.Errorf("config-network: %w", err)
	case strings.ContainsAny(name, "./"):
		return fmt.Errorf("config-network: tag-template must give one DNS label, got %q", name)
	}
	return nil
}

// samples are what the domain template is tried on: a Route with all labels and annotations that it asks for, and one without
// any.
func (n *Network) samples() []DomainValues {
	var out []DomainValues
	for _, has := range apiconfig.Samples(n.domain.Root.String()) {
		out = append(out, DomainValues{Name: "foo", Namespace: "bar", Domain: "baz.com", Annotations: has, Labels: has})
	}
	return out
}

// Host expands the domain template; the result is a bare host name.
func (n *Network) Host(v DomainValues) (string, error) {
	var b strings.Builder
	if err := n.domain.Execute(&b, v); err != nil {
		return "", fmt.Errorf("expanding domain-template: %w", err)
	}
	u, err := url.Parse("http://" + b.String())
	if err != nil || u.Host == "" || u.Host != b.String() || u.Port() != "" {
		return "", fmt.Errorf("domain-template gives %q, which is not a host name", b.String())
	}
	return u.Host, nil
}

// TagName expands the tag template: the name under which a tag of the route called name is reached.
func (n *Network) TagName(tag, name string) (string, error) { return n.tags.TagName(tag, name) }

// ExternalAuthority is host as it stands in a URL, with the port unless the scheme implies it.
func (n *Network) ExternalAuthority(scheme, host string) string {
	if scheme != "http" || n.ExternalHTTPPort == 80 {
		return host
	}
	return host + ":" + strconv.Itoa(n.ExternalHTTPPort)
}

// asEither reads a string under its old spelling, then under the present one, which wins.
func asEither(old, key string, target *string) configmap.ParseFunc {
	read := func(k string, data map[string]string) error { return configmap.AsString(k, target)(data) }
	return func(data map[string]string) error {
		if err := read(old, data); err != nil {
			return err
		}
		return read(key, data)
	}
}
