// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	apiconfig "weir.dev/api/config"
	"weir.dev/pkg/observability"
)

// strictNetwork is NewNetwork for the admission of config-network.
func strictNetwork(cm *corev1.ConfigMap) (*Network, error) {
	n, err := NewNetwork(cm)
	if err != nil {
		return nil, err
	}
	errs := []error{apiconfig.OneOf("default-external-scheme", n.DefaultExternalScheme, "http", "https")}
	for _, key := range []string{"external-domain-tls", "cluster-local-domain-tls", "system-internal-tls"} {
		if value := strings.TrimSpace(cm.Data[key]); value != "" {
			errs = append(errs, apiconfig.OneOf(key, value, "enabled", "disabled"))
		}
	}
	return n, named(cm, append(errs, n.tryDomain(), n.tryTag())...)
}

// tryDomain expands the domain template: one of the samples must make a host of it, and another one for another name. That it
// has the namespace is for the operator to say: names may be unique by other means, and where they are not the oldest Route
// has the host.
func (n *Network) tryDomain() error {
	var err error
	for _, values := range n.samples() {
		if err = n.trySample(values); err == nil {
			break
		}
	}
	return err
}

func (n *Network) trySample(values DomainValues) error {
	host, err := n.Host(values)
	if err != nil {
		return err
	}
	for _, label := range strings.Split(strings.ToLower(host), ".") {
		if problems := validation.IsDNS1123Label(label); len(problems) > 0 {
			return fmt.Errorf("domain-template gives %q: label %q: %s", host, label, strings.Join(problems, "; "))
		}
	}
	values.Name = "other"
	if other, err := n.Host(values); err != nil || other == host {
		return fmt.Errorf("domain-template gives the same host %q whatever the name: it must contain .Name", host)
	}
	return nil
}

// tryTag expands the tag template: the result names a k8s Service, and no two tags or Routes have the same.
func (n *Network) tryTag() error {
	name, err := n.TagName("v1", "foo")
	if err != nil {
		return err
	}
	if problems := validation.IsDNS1035Label(name); len(problems) > 0 {
		return fmt.Errorf("tag-template gives %q, which is no name of a Kubernetes Service: %s", name, strings.Join(problems, "; "))
	}
	if !strings.Contains(name, "v1") {
		return fmt.Errorf("tag-template gives %q for the tag v1: it must contain .Tag", name)
	}
	if other, err := n.TagName("v1", "other"); err != nil || other == name {
		return fmt.Errorf("tag-template gives the same name %q whatever the Route: it must contain .Name", name)
	}
	return nil
}

// strictDomain is NewDomain for the admission of config-domain.
func strictDomain(cm *corev1.ConfigMap) (*Domain, error) {
	d, err := NewDomain(cm)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, e := range d.entries {
		if problems := validation.IsDNS1123Subdomain(strings.ToLower(e.name)); len(problems) > 0 {
			errs = append(errs, fmt.Errorf("domain %q: %s", e.name, strings.Join(problems, "; ")))
		}
		if _, err := labels.ValidatedSelectorFromSet(e.selector); err != nil {
			errs = append(errs, fmt.Errorf("domain %q: selector: %w", e.name, err))
		}
	}
	return d, named(cm, errs...)
}

// named joins errors under the name of the ConfigMap.
func named(cm *corev1.ConfigMap, errs ...error) error {
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("ConfigMap %s: %w", cm.Name, err)
	}
	return nil
}

// strictObservability is NewObservability for the admission of config-observability: what processes need of it must do, too.
func strictObservability(cm *corev1.ConfigMap) (*Observability, error) {
	if _, err := observability.NewConfigFromConfigMap(cm); err != nil {
		return nil, err
	}
	return NewObservability(cm)
}
