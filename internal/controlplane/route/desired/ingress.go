// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package desired computes the objects that a Route asks for: the Ingress that leads its hosts to Revisions, and one k8s
// Service a group as the name inside the cluster (facts.md 4.6). Pure. Only package route imports it.
package desired

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"weir.dev/api/networking"
	netv1alpha1 "weir.dev/api/networking/v1alpha1"
	"weir.dev/api/serving"
	v1 "weir.dev/api/serving/v1"
	"weir.dev/internal/controlplane/config"
	"weir.dev/internal/controlplane/route/hosts"
	"weir.dev/internal/controlplane/route/traffic"
	"weir.dev/pkg/kmap"
	"weir.dev/pkg/kmeta"
)

// Headers by which a split tells which Revision it is.
const (
	RevisionHeader  = "Knative-Serving-Revision"
	NamespaceHeader = "Knative-Serving-Namespace"
)

// IngressName returns the name of the Ingress of route.
func IngressName(route *v1.Route) string { return kmeta.ChildName(route.Name, "") }

// Ingress returns the Ingress of route to be. names are the hosts by tag, the same tags as the plan's groups. existing is
// what is there, nil if nothing is. An error means that route's annotations ask for something that does not exist.
func Ingress(route *v1.Route, cfg *config.Network, plan *traffic.Plan, names map[string]hosts.Names, existing *netv1alpha1.Ingress) (*netv1alpha1.Ingress, error) {
	option, err := httpOption(route, cfg)
	if err != nil {
		return nil, err
	}
	ing := &netv1alpha1.Ingress{ObjectMeta: metav1.ObjectMeta{
		Name:            IngressName(route),
		Namespace:       route.Namespace,
		OwnerReferences: []metav1.OwnerReference{*kmeta.NewControllerRef(route)},
	}}
	if existing != nil {
		ing = existing.DeepCopy()
	}
	ing.Labels = kmap.Union(route.Labels, map[string]string{
		serving.RouteLabelKey:          route.Name,
		serving.RouteNamespaceLabelKey: route.Namespace,
	})
	ing.Annotations = ingressAnnotations(route, cfg, names)
	if plan.Rollout != "" {
		ing.Annotations[networking.RolloutAnnotationKey] = plan.Rollout
	}
	ing.Spec = netv1alpha1.IngressSpec{HTTPOption: option, Rules: rules(route, plan, names)}
	return ing, nil
}

// Class is which implementation serves the Ingress of route.
func Class(route *v1.Route, cfg *config.Network) string {
	if _, class, ok := networking.IngressClassAnnotation().Get(route.Annotations); ok {
		return class
	}
	return cfg.IngressClass
}

// ingressAnnotations are route's, with one spelling of the class.
func ingressAnnotations(route *v1.Route, cfg *config.Network, names map[string]hosts.Names) map[string]string {
	classes := networking.IngressClassAnnotation()
	annotations := kmap.ExcludeKeys(route.Annotations, append(slices.Clone(classes), corev1.LastAppliedConfigAnnotation)...)
	annotations[networking.IngressClassAnnotationKey] = Class(route, cfg)
	if tags := tagHosts(names); len(tags) > 0 {
		text, err := json.Marshal(tags)
		if err != nil {
			panic(fmt.Sprintf("desired: strings do not marshal: %v", err)) // they always do
		}
		annotations[networking.TagToHostAnnotationKey] = string(text)
	}
	return annotations
}

func tagHosts(names map[string]hosts.Names) map[string][]string {
	tags := map[string][]string{}
	for tag, n := range names {
		if tag == "" {
			continue
		}
		tags[tag] = slices.Clone(n.Local)
		if n.External != "" {
			tags[tag] = append(tags[tag], n.External)
		}
	}
	return tags
}

// httpOption says what happens to cleartext requests from outside: route's annotation, else the operator's default.
func httpOption(route *v1.Route, cfg *config.Network) (netv1alpha1.HTTPOption, error) {
	if key, value, ok := networking.HTTPProtocolAnnotation().Get(route.Annotations); ok {
		switch config.HTTPProtocol(strings.ToLower(value)) {
		case config.HTTPEnabled:
			return netv1alpha1.HTTPOptionEnabled, nil
		case config.HTTPRedirected:
			return netv1alpha1.HTTPOptionRedirected, nil
		default:
			return "", fmt.Errorf("annotation %s: %q is neither enabled nor redirected", key, value)
		}
	}
	switch cfg.HTTPProtocol {
	case config.HTTPEnabled:
		return netv1alpha1.HTTPOptionEnabled, nil
	case config.HTTPRedirected:
		return netv1alpha1.HTTPOptionRedirected, nil
	default:
		return "", nil
	}
}

// rules are those of the main hosts, then those of the tags in their order.
func rules(route *v1.Route, plan *traffic.Plan, names map[string]hosts.Names) []netv1alpha1.IngressRule {
	var rules []netv1alpha1.IngressRule
	for _, tag := range slices.Sorted(maps.Keys(names)) {
		n, targets := names[tag], plan.Groups[tag]
		if len(targets) == 0 {
			continue
		}
		rules = append(rules, rule(route, n.Local, netv1alpha1.IngressVisibilityClusterLocal, targets))
		if n.External != "" {
			rules = append(rules, rule(route, []string{n.External}, netv1alpha1.IngressVisibilityExternalIP, targets))
		}
	}
	return rules
}

func rule(route *v1.Route, names []string, visibility netv1alpha1.IngressVisibility, targets []traffic.Target) netv1alpha1.IngressRule {
	path := netv1alpha1.HTTPIngressPath{Splits: make([]netv1alpha1.IngressBackendSplit, 0, len(targets))}
	for _, t := range targets {
		path.Splits = append(path.Splits, split(route.Namespace, t))
	}
	return netv1alpha1.IngressRule{
		Hosts:      slices.Clone(names),
		Visibility: visibility,
		HTTP:       &netv1alpha1.HTTPIngressRuleValue{Paths: []netv1alpha1.HTTPIngressPath{path}},
	}
}

func split(namespace string, t traffic.Target) netv1alpha1.IngressBackendSplit {
	return netv1alpha1.IngressBackendSplit{
		IngressBackend: netv1alpha1.IngressBackend{
			ServiceNamespace: namespace,
			ServiceName:      t.RevisionName,
			ServicePort:      intstr.FromInt32(int32(networking.ServicePort(t.Protocol))),
		},
		Percent:       int(t.Percent),
		AppendHeaders: map[string]string{RevisionHeader: t.RevisionName, NamespaceHeader: namespace},
	}
}
