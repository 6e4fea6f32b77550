// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"net"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// VisibleServices are the services whose addresses a pod's containers get as
// variables: always the API server's, and unless the pod declines
// (enableServiceLinks) those of its own namespace.
func VisibleServices(pod *corev1.Pod, all []*corev1.Service) []*corev1.Service {
	links := pod.Spec.EnableServiceLinks == nil || *pod.Spec.EnableServiceLinks
	var visible []*corev1.Service
	for _, s := range all {
		api := s.Namespace == corev1.NamespaceDefault && s.Name == "kubernetes"
		if api || links && s.Namespace == pod.Namespace {
			visible = append(visible, s)
		}
	}
	return visible
}

// serviceVariables are the variables of Docker's links, which Kubernetes keeps.
func serviceVariables(services []*corev1.Service) map[string]string {
	vars := map[string]string{}
	for _, s := range services {
		if s.Spec.ClusterIP == "" || s.Spec.ClusterIP == corev1.ClusterIPNone || len(s.Spec.Ports) == 0 {
			continue
		}
		addService(vars, s)
	}
	return vars
}

func addService(vars map[string]string, s *corev1.Service) {
	prefix := variableName(s.Name)
	vars[prefix+"_SERVICE_HOST"] = s.Spec.ClusterIP
	vars[prefix+"_SERVICE_PORT"] = strconv.Itoa(int(s.Spec.Ports[0].Port))
	for i, p := range s.Spec.Ports {
		port, protocol := strconv.Itoa(int(p.Port)), p.Protocol
		if protocol == "" {
			protocol = corev1.ProtocolTCP
		}
		if p.Name != "" {
			vars[prefix+"_SERVICE_PORT_"+variableName(p.Name)] = port
		}
		url := strings.ToLower(string(protocol)) + "://" + net.JoinHostPort(s.Spec.ClusterIP, port)
		if i == 0 {
			vars[prefix+"_PORT"] = url
		}
		portPrefix := prefix + "_PORT_" + port + "_" + strings.ToUpper(string(protocol))
		vars[portPrefix] = url
		vars[portPrefix+"_PROTO"] = strings.ToLower(string(protocol))
		vars[portPrefix+"_PORT"] = port
		vars[portPrefix+"_ADDR"] = s.Spec.ClusterIP
	}
}

func variableName(name string) string {
	return strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}
