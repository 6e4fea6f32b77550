// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"net/http"
	"strings"
)

// Headers of probes.
const (
	// ProbeHeaderName marks a request as a probe; its value names who answers.
	ProbeHeaderName = "K-Network-Probe"
	// ProbeHeaderValue is the value of the probes of an ingress.
	ProbeHeaderValue = "probe"
	// HashHeaderName carries the version of what an ingress has programmed.
	HashHeaderName = "K-Network-Hash"
	// HashHeaderValue, in a request, has the ingress set the hash in its place.
	HashHeaderValue = "override"
	// KubeletProbeHeaderName marks the kubelet's probes where a mesh hides their
	// user agent.
	KubeletProbeHeaderName = "K-Kubelet-Probe"
	// UserAgentKey is the header of the user agent.
	UserAgentKey = "User-Agent"
	// KubeProbeUAPrefix begins the kubelet's user agent.
	KubeProbeUAPrefix = "kube-probe/"
)

// Headers of routing.
const (
	// ProxyHeaderName marks a request that was proxied, and by whom.
	ProxyHeaderName = "K-Proxy-Request"
	// OriginalHostHeader is the host that the client asked for, before a rewrite.
	OriginalHostHeader = "K-Original-Host"
	// PassthroughLoadbalancingHeaderName asks a mesh to keep to the address that
	// was dialled.
	PassthroughLoadbalancingHeaderName = "K-Passthrough-Lb"
	// TagHeaderName selects a tag of a route.
	TagHeaderName = "Knative-Serving-Tag"
	// DefaultRouteHeaderName tells that no tag was selected.
	DefaultRouteHeaderName = "Knative-Serving-Default-Route"
)

// IsKubeletProbe tells whether the request is a probe of the kubelet.
func IsKubeletProbe(r *http.Request) bool {
	return strings.HasPrefix(r.UserAgent(), KubeProbeUAPrefix) || r.Header.Get(KubeletProbeHeaderName) != ""
}
