// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// strictNetwork is NewNetwork for the admission of config-network.
func strictNetwork(cm *corev1.ConfigMap) (*Network, error) {
	n, err := NewNetwork(cm)
	if err != nil {
		return nil, err
	}
	return n, errors.Join(n.tryHosts(), n.tryTag())
}

// tryHosts expands the domain template: one of the samples must make a host of it, and another one for another name. That it
// has the namespace is for the operator to say: names may be unique by other means, and where they are not the oldest Route
// has the host.
func (n *Network) tryHosts() error {
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
