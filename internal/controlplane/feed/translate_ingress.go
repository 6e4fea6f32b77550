// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"net/http"
	"strings"

	"weir.dev/api/networking/v1alpha1"
	"weir.dev/internal/feed/feedpb"
)

// Headers by which a split names the revision that it leads to.
const (
	headerRevision  = "Knative-Serving-Revision"
	headerNamespace = "Knative-Serving-Namespace"
)

// translateIngress is the routing part of an Ingress, and the plain Services that it leads to.
func translateIngress(in *v1alpha1.Ingress) (*feedpb.Ingress, []servicePort) {
	out := &feedpb.Ingress{
		Namespace: in.Namespace, Name: in.Name, Uid: string(in.UID), Generation: in.Generation,
		Claimed:       in.CreationTimestamp.UnixNano(),
		RedirectHttps: in.Spec.HTTPOption == v1alpha1.HTTPOptionRedirected,
	}
	var services []servicePort
	for i := range in.Spec.Rules {
		rule, used := translateRule(in.Namespace, &in.Spec.Rules[i])
		out.Rules = append(out.Rules, rule)
		services = append(services, used...)
	}
	return out, services
}

func translateRule(namespace string, in *v1alpha1.IngressRule) (*feedpb.Rule, []servicePort) {
	out := &feedpb.Rule{ClusterLocal: in.Visibility == v1alpha1.IngressVisibilityClusterLocal}
	for _, host := range in.Hosts {
		out.Hosts = append(out.Hosts, strings.ToLower(host))
	}
	if in.HTTP == nil {
		return out, nil
	}
	var services []servicePort
	for i := range in.HTTP.Paths {
		path, used := translatePath(namespace, &in.HTTP.Paths[i])
		out.Paths = append(out.Paths, path)
		services = append(services, used...)
	}
	return out, services
}

func translatePath(namespace string, in *v1alpha1.HTTPIngressPath) (*feedpb.Path, []servicePort) {
	out := &feedpb.Path{
		Prefix: in.Path, RewriteHost: in.RewriteHost, AppendHeaders: canonical(in.AppendHeaders),
	}
	for name, match := range in.Headers {
		if out.Headers == nil {
			out.Headers = make(map[string]string, len(in.Headers))
		}
		out.Headers[http.CanonicalHeaderKey(name)] = match.Exact
	}
	var services []servicePort
	for i := range in.Splits {
		split, service := translateSplit(namespace, &in.Splits[i])
		if len(in.Splits) == 1 && split.Percent == 0 {
			split.Percent = 100
		}
		out.Splits = append(out.Splits, split)
		if service != nil {
			services = append(services, *service)
		}
	}
	return out, services
}

// translateSplit tells a revision from a plain Service: the headers of a split to a revision name it.
func translateSplit(namespace string, in *v1alpha1.IngressBackendSplit) (*feedpb.Split, *servicePort) {
	out := &feedpb.Split{Percent: uint32(min(max(in.Percent, 0), 100)), AppendHeaders: canonical(in.AppendHeaders)}
	if revision := out.AppendHeaders[headerRevision]; revision != "" {
		if ns := out.AppendHeaders[headerNamespace]; ns != "" {
			namespace = ns
		}
		out.Backend = &feedpb.Ref{Namespace: namespace, Name: revision}
		return out, nil
	}
	if in.ServiceNamespace != "" {
		namespace = in.ServiceNamespace
	}
	service := servicePort{ref: ref{namespace, in.ServiceName}, port: in.ServicePort}
	out.Backend = service.backend().pb()
	return out, &service
}

func canonical(in map[string]string) map[string]string {
	if len(in) == 0 {
		return nil
	}
	out := make(map[string]string, len(in))
	for name, value := range in {
		out[http.CanonicalHeaderKey(name)] = value
	}
	return out
}
