// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// unsupported lists what a pod asks for and does not get on this node. It runs
// nevertheless; what it cannot run without is an error where it is needed.
func unsupported(pod *corev1.Pod) []string {
	var list []string
	add := func(asked bool, what string) {
		if asked {
			list = append(list, what)
		}
	}
	spec := &pod.Spec
	add(spec.ShareProcessNamespace != nil && *spec.ShareProcessNamespace, "shareProcessNamespace")
	add(spec.RuntimeClassName != nil, "runtimeClassName")
	add(len(spec.ResourceClaims) > 0, "resourceClaims")
	add(len(spec.EphemeralContainers) > 0, "ephemeralContainers")
	add(spec.HostUsers != nil && !*spec.HostUsers, "hostUsers")
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			c := &containers[i]
			add(len(c.VolumeDevices) > 0, fmt.Sprintf("volumeDevices of container %s", c.Name))
			add(c.Stdin || c.TTY, fmt.Sprintf("attaching to stdin or terminal of container %s", c.Name))
			for _, port := range c.Ports {
				add(port.HostPort != 0 && !spec.HostNetwork, fmt.Sprintf("hostPort %d of container %s", port.HostPort, c.Name))
			}
		}
	}
	return list
}

// warnUnsupported tells the user, so that nothing is silently left out.
func (p *Pod) warnUnsupported() {
	for _, what := range unsupported(p.Snapshot()) {
		p.event(corev1.EventTypeWarning, "NotSupported", "", "%s is not supported by this node and has no effect", what)
	}
}
