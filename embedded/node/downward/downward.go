// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package downward reads the values of a pod that its own containers may ask
// for, as environment variables or files (Kubernetes' downward API). Pure.
package downward

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Field is the value of a pod's field, such as "metadata.labels['app']". The
// pod's status must hold its addresses already.
func Field(pod *corev1.Pod, path string) (string, error) {
	if base, key, ok := subscript(path); ok {
		switch base {
		case "metadata.labels":
			return pod.Labels[key], nil
		case "metadata.annotations":
			return pod.Annotations[key], nil
		}
		return "", fmt.Errorf("field %q of a pod is not available to its containers", path)
	}
	switch path {
	case "metadata.name":
		return pod.Name, nil
	case "metadata.namespace":
		return pod.Namespace, nil
	case "metadata.uid":
		return string(pod.UID), nil
	case "metadata.labels":
		return pairs(pod.Labels), nil
	case "metadata.annotations":
		return pairs(pod.Annotations), nil
	case "spec.nodeName":
		return pod.Spec.NodeName, nil
	case "spec.serviceAccountName":
		return pod.Spec.ServiceAccountName, nil
	case "status.hostIP":
		return pod.Status.HostIP, nil
	case "status.hostIPs":
		return pod.Status.HostIP, nil
	case "status.podIP":
		return pod.Status.PodIP, nil
	case "status.podIPs":
		return podIPs(pod), nil
	}
	return "", fmt.Errorf("field %q of a pod is not available to its containers", path)
}

func subscript(path string) (base, key string, ok bool) {
	base, rest, found := strings.Cut(path, "['")
	if !found || !strings.HasSuffix(rest, "']") {
		return "", "", false
	}
	return base, strings.TrimSuffix(rest, "']"), true
}

func pairs(m map[string]string) string {
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		lines = append(lines, key+"="+strconv.Quote(m[key]))
	}
	return strings.Join(lines, "\n")
}

func podIPs(pod *corev1.Pod) string {
	var ips []string
	for _, ip := range pod.Status.PodIPs {
		ips = append(ips, ip.IP)
	}
	return strings.Join(ips, ",")
}

// Resource is a container's request or limit, such as "limits.cpu", in units of
// the selector's divisor, rounded up. A missing limit is what the node has.
func Resource(c *corev1.Container, selector *corev1.ResourceFieldSelector, node corev1.ResourceList) (string, error) {
	kind, name, _ := strings.Cut(selector.Resource, ".")
	var list corev1.ResourceList
	switch kind {
	case "limits":
		list = c.Resources.Limits
	case "requests":
		list = c.Resources.Requests
	default:
		return "", fmt.Errorf("resource %q is not available to containers", selector.Resource)
	}
	quantity, set := list[corev1.ResourceName(name)]
	if !set && kind == "limits" {
		quantity = node[corev1.ResourceName(name)]
	}
	return inUnits(corev1.ResourceName(name), quantity, selector.Divisor), nil
}

func inUnits(name corev1.ResourceName, quantity, divisor resource.Quantity) string {
	if divisor.IsZero() {
		divisor = resource.MustParse("1")
	}
	if name == corev1.ResourceCPU {
		return ceil(quantity.MilliValue(), divisor.MilliValue())
	}
	return ceil(quantity.Value(), divisor.Value())
}

func ceil(value, divisor int64) string {
	return strconv.FormatInt(int64(math.Ceil(float64(value)/float64(divisor))), 10)
}
