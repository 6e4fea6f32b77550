// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package keys

import "slices"

func network() Map {
	certificates := idle("there are no certificates yet",
		Key{Name: "certificate-class", Type: name, Default: "cert-manager.certificate.networking.knative.dev", Old: []string{"certificate.class"}},
		Key{Name: "external-domain-tls", Type: onOff, Default: "disabled", Old: []string{"auto-tls", "autoTLS"}},
		Key{Name: "cluster-local-domain-tls", Type: onOff, Default: "disabled"},
		Key{Name: "namespace-wildcard-cert-selector", Type: selector},
	)
	inside := idle("gateways and controllers always speak TLS",
		Key{Name: "system-internal-tls", Type: onOff, Default: "disabled"},
		Key{Name: "internal-encryption", Type: boolean, Default: "false"},
	)
	claims := idle("there are no DomainMappings yet",
		Key{Name: "autocreate-cluster-domain-claims", Type: boolean, Default: "false", Old: []string{"autocreateClusterDomainClaims"}},
	)
	mesh := idle("the gateway reaches pods by their addresses",
		Key{Name: "enable-mesh-pod-addressability", Type: boolean, Default: "false"},
		Key{Name: "mesh-compatibility-mode", Type: oneOf("auto", "enabled", "disabled"), Default: "auto"},
	)
	return Map{Name: "config-network", About: "The names of Routes, and how requests reach them. A change counts for all Routes at once.", Keys: slices.Concat([]Key{
		{Name: "ingress-class", Type: name, Default: "weir.ingress.networking.knative.dev", Old: []string{"ingress.class"}, Effect: "the class of Ingresses whose Route names none"},
		{Name: "domain-template", Type: tmpl, Default: "{{.Name}}.{{.Namespace}}.{{.Domain}}", Old: []string{"domainTemplate"}, Effect: "a Route's host outside the cluster, of `.Name`, `.Namespace`, `.Domain`, `.Labels` and `.Annotations`; must contain the name"},
		{Name: "tag-template", Type: tmpl, Default: "{{.Tag}}-{{.Name}}", Old: []string{"tagTemplate"}, Effect: "the name of a tag of a Route, of `.Tag` and `.Name`; must contain both and be a DNS label"},
		{Name: "http-protocol", Type: oneOf("enabled", "redirected", "disabled"), Default: "enabled", Old: []string{"httpProtocol"}, Effect: "what becomes of requests from outside that come without TLS"},
		{Name: "rollout-duration", Type: seconds, Default: "0", Old: []string{"rolloutDuration"}, Effect: "how long traffic takes to move to a new Revision; 0 is at once"},
		{Name: "default-external-scheme", Type: oneOf("http", "https"), Default: "http", Old: []string{"defaultExternalScheme"}, Effect: "the scheme of URLs outside the cluster"},
		{Name: "external-http-port", Type: integer, Default: "80", Effect: "the port that clients outside use for HTTP; URLs carry it unless it is 80. Ours; `weir up` sets it"},
	}, certificates, inside, claims, mesh)}
}

func domain() Map {
	return Map{Name: "config-domain", About: "The domains of Routes: every key is one. `weir up` adds its own.", Keys: []Key{{
		Name: "<domain>", Type: yamlMap, Note: "`svc.<cluster domain>`: no host outside the cluster",
		Effect: "Routes that have all labels of its `selector` live under that domain; the one with the most labels counts, " +
			"of equals the first by name. Without `selector` all Routes do. `type` (`wildcard`) has no effect: there are no certificates yet",
	}}}
}
