// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package hosts names what a Route answers to: the hosts and URLs of the Route and of each tag, inside the cluster and
// outside (facts.md 1.6, 4.5). Pure. Only package route and its parts import it.
package hosts

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"

	"weir.dev/api/networking"
	v1 "weir.dev/api/serving/v1"
	"weir.dev/internal/controlplane/config"
	"weir.dev/pkg/apis"
	"weir.dev/pkg/network"
)

// Names are the names of one group of targets: those behind the Route's own name, or behind a tag.
type Names struct {
	Tag string
	// Service is the name of the k8s Service through which DNS in the cluster knows the group.
	Service string
	// Local are the hosts inside the cluster; the last is fully qualified.
	Local []string
	// External is the host outside, "" for a group that is reached from inside only.
	External string
	// URL is what users call: the external host if there is one.
	URL *apis.URL
}

// Namer names the groups of one Route.
type Namer struct {
	route   *v1.Route
	network *config.Network
	// domain is "" for a Route that is reached from inside only.
	domain string
	// local are the tags that are reached from inside only.
	local sets.Set[string]
}

// New returns a namer for route. localTags are the tags that their users keep inside the cluster.
func New(cfg *config.Config, route *v1.Route, localTags sets.Set[string]) Namer {
	domain := cfg.Domain.Lookup(route.Labels)
	if domain == config.ClusterLocalDomain() || route.Labels[networking.VisibilityLabelKey] == networking.VisibilityClusterLocal {
		domain = ""
	}
	return Namer{route: route, network: cfg.Network, domain: domain, local: localTags}
}

// IsLocal says whether no host of the Route is reached from outside, whatever its tags.
func (n Namer) IsLocal() bool { return n.domain == "" }

// Group returns the names of the group behind tag, "" being the Route's own. An error means that the operator's templates
// make something that is no host name.
func (n Namer) Group(tag string) (Names, error) {
	service, err := n.network.TagName(tag, n.route.Name)
	if err != nil {
		return Names{}, err
	}
	namespaced := service + "." + n.route.Namespace
	names := Names{
		Tag:     tag,
		Service: service,
		Local:   []string{namespaced, namespaced + ".svc", network.GetServiceHostname(service, n.route.Namespace)},
	}
	if n.domain != "" && !n.local.Has(tag) {
		if names.External, err = n.external(service); err != nil {
			return Names{}, err
		}
	}
	names.URL = n.url(names)
	return names, valid(names)
}

// Address is where the Route is reached from inside the cluster, its users' names for it aside.
func (n Namer) Address() *apis.URL {
	return apis.HTTP(network.GetServiceHostname(n.route.Name, n.route.Namespace))
}

func (n Namer) external(service string) (string, error) {
	host, err := n.network.Host(config.DomainValues{
		Name:        service,
		Namespace:   n.route.Namespace,
		Domain:      n.domain,
		Annotations: n.route.Annotations,
		Labels:      n.route.Labels,
	})
	return strings.ToLower(host), err
}

func (n Namer) url(names Names) *apis.URL {
	if names.External == "" {
		return apis.HTTP(names.Local[len(names.Local)-1])
	}
	scheme := n.network.DefaultExternalScheme
	return &apis.URL{Scheme: scheme, Host: n.network.ExternalAuthority(scheme, names.External)}
}

func valid(names Names) error {
	if problems := validation.IsDNS1035Label(names.Service); len(problems) > 0 {
		return fmt.Errorf("invalid name %q of a Kubernetes Service: %s", names.Service, strings.Join(problems, "; "))
	}
	if names.External == "" {
		return nil
	}
	for _, label := range strings.Split(names.External, ".") {
		if problems := validation.IsDNS1123Label(label); len(problems) > 0 {
			return fmt.Errorf("invalid host %q: label %q: %s", names.External, label, strings.Join(problems, "; "))
		}
	}
	if problems := validation.IsDNS1123Subdomain(names.External); len(problems) > 0 {
		return fmt.Errorf("invalid host %q: %s", names.External, strings.Join(problems, "; "))
	}
	return nil
}
