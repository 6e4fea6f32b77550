// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// reference is a ConfigMap or Secret by its name.
type reference struct {
	kind, name string
}

const (
	configMap = "ConfigMap"
	secret    = "Secret"
)

// references maps what the pod reads to whether it can do without. Secrets to pull images with are none: they change nothing
// for what runs.
type references map[reference]bool

// referencesOf collects what spec refers to.
func referencesOf(spec *corev1.PodSpec) references {
	refs := references{}
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		for i := range c.EnvFrom {
			refs.addEnvFrom(&c.EnvFrom[i])
		}
		for i := range c.Env {
			refs.addEnv(c.Env[i].ValueFrom)
		}
	}
	for i := range spec.Volumes {
		refs.addVolume(&spec.Volumes[i].VolumeSource)
	}
	return refs
}

// sorted is in a fixed order.
func (r references) sorted() []reference {
	return slices.SortedFunc(maps.Keys(r), func(a, b reference) int {
		return strings.Compare(a.kind+"/"+a.name, b.kind+"/"+b.name)
	})
}

// add notes one reference; what one place needs is needed.
func (r references) add(kind, name string, optional *bool) {
	ref := reference{kind, name}
	can := optional != nil && *optional
	if before, ok := r[ref]; ok {
		can = can && before
	}
	r[ref] = can
}

func (r references) addEnvFrom(e *corev1.EnvFromSource) {
	if from := e.ConfigMapRef; from != nil {
		r.add(configMap, from.Name, from.Optional)
	}
	if from := e.SecretRef; from != nil {
		r.add(secret, from.Name, from.Optional)
	}
}

func (r references) addEnv(v *corev1.EnvVarSource) {
	switch {
	case v == nil:
	case v.ConfigMapKeyRef != nil:
		r.add(configMap, v.ConfigMapKeyRef.Name, v.ConfigMapKeyRef.Optional)
	case v.SecretKeyRef != nil:
		r.add(secret, v.SecretKeyRef.Name, v.SecretKeyRef.Optional)
	}
}

func (r references) addVolume(v *corev1.VolumeSource) {
	switch {
	case v.ConfigMap != nil:
		r.add(configMap, v.ConfigMap.Name, v.ConfigMap.Optional)
	case v.Secret != nil:
		r.add(secret, v.Secret.SecretName, v.Secret.Optional)
	case v.Projected != nil:
		for i := range v.Projected.Sources {
			p := &v.Projected.Sources[i]
			if p.ConfigMap != nil {
				r.add(configMap, p.ConfigMap.Name, p.ConfigMap.Optional)
			}
			if p.Secret != nil {
				r.add(secret, p.Secret.Name, p.Secret.Optional)
			}
		}
	}
}
