// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package env computes the environment of a container by Kubernetes' rules:
// the image's variables, then one set for each Service that the pod wants to
// see, then envFrom, then env, with $(NAME) replaced in the order of declaration.
package env

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation"

	"weir.dev/embedded/node/downward"
)

// Source reads the objects that variables refer to.
type Source interface {
	ConfigMap(ctx context.Context, namespace, name string) (*corev1.ConfigMap, error)
	Secret(ctx context.Context, namespace, name string) (*corev1.Secret, error)
}

// Request is what an environment is made from.
type Request struct {
	// Pod has its addresses in its status.
	Pod       *corev1.Pod
	Container *corev1.Container
	// Image are the image's variables as NAME=value.
	Image []string
	// Hostname is the pod's host name.
	Hostname string
	// Services are those whose addresses the container is to see.
	Services []*corev1.Service
	// Node is what the node has, for limits that are not set.
	Node corev1.ResourceList
}

// Environment are a container's variables.
type Environment struct {
	values map[string]string
}

// List is the environment as NAME=value, sorted.
func (e Environment) List() []string {
	list := make([]string, 0, len(e.values))
	for _, name := range slices.Sorted(maps.Keys(e.values)) {
		list = append(list, name+"="+e.values[name])
	}
	return list
}

// Expand replaces $(NAME) in each text, as for a container's command.
func (e Environment) Expand(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = expand(text, e.values)
	}
	return out
}

// Resolve computes the environment. An error means that something it refers to
// is missing.
func Resolve(ctx context.Context, source Source, req Request) (Environment, error) {
	services := serviceVariables(req.Services)
	own := map[string]string{}
	for _, from := range req.Container.EnvFrom {
		if err := addFrom(ctx, source, req.Pod.Namespace, from, own); err != nil {
			return Environment{}, err
		}
	}
	for _, variable := range req.Container.Env {
		value, ok, err := valueOf(ctx, source, req, variable, own, services)
		if err != nil {
			return Environment{}, err
		}
		if ok {
			own[variable.Name] = value
		}
	}
	return Environment{values: merge(req, services, own)}, nil
}

func merge(req Request, services, own map[string]string) map[string]string {
	const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	values := map[string]string{"PATH": defaultPath, "HOSTNAME": req.Hostname}
	if req.Container.TTY {
		values["TERM"] = "xterm"
	}
	for _, variable := range req.Image {
		name, value, _ := strings.Cut(variable, "=")
		values[name] = value
	}
	maps.Copy(values, services)
	maps.Copy(values, own)
	return values
}

func addFrom(ctx context.Context, source Source, namespace string, from corev1.EnvFromSource, into map[string]string) error {
	add := func(key, value string) {
		if name := from.Prefix + key; len(validation.IsEnvVarName(name)) == 0 {
			into[name] = value
		}
	}
	switch {
	case from.ConfigMapRef != nil:
		object, err := source.ConfigMap(ctx, namespace, from.ConfigMapRef.Name)
		if err != nil {
			return unlessOptional(err, from.ConfigMapRef.Optional)
		}
		for key, value := range object.Data {
			add(key, value)
		}
	case from.SecretRef != nil:
		object, err := source.Secret(ctx, namespace, from.SecretRef.Name)
		if err != nil {
			return unlessOptional(err, from.SecretRef.Optional)
		}
		for key, value := range object.Data {
			add(key, string(value))
		}
	}
	return nil
}

// valueOf is false for an optional value that does not exist.
func valueOf(ctx context.Context, source Source, req Request, v corev1.EnvVar, own, services map[string]string) (string, bool, error) {
	from := v.ValueFrom
	switch {
	case from == nil:
		return expand(v.Value, own, services), true, nil
	case from.FieldRef != nil:
		value, err := downward.Field(req.Pod, from.FieldRef.FieldPath)
		return value, true, err
	case from.ResourceFieldRef != nil:
		value, err := resourceValue(req, from.ResourceFieldRef)
		return value, true, err
	case from.ConfigMapKeyRef != nil:
		return configMapKey(ctx, source, req.Pod.Namespace, from.ConfigMapKeyRef)
	case from.SecretKeyRef != nil:
		return secretKey(ctx, source, req.Pod.Namespace, from.SecretKeyRef)
	}
	return "", false, fmt.Errorf("variable %s: this source of values is not supported", v.Name)
}

func resourceValue(req Request, selector *corev1.ResourceFieldSelector) (string, error) {
	container := req.Container
	if selector.ContainerName != "" {
		all := append(slices.Clone(req.Pod.Spec.Containers), req.Pod.Spec.InitContainers...)
		i := slices.IndexFunc(all, func(c corev1.Container) bool { return c.Name == selector.ContainerName })
		if i < 0 {
			return "", fmt.Errorf("container %q not found", selector.ContainerName)
		}
		container = &all[i]
	}
	return downward.Resource(container, selector, req.Node)
}

func configMapKey(ctx context.Context, source Source, namespace string, ref *corev1.ConfigMapKeySelector) (string, bool, error) {
	object, err := source.ConfigMap(ctx, namespace, ref.Name)
	if err != nil {
		return "", false, unlessOptional(err, ref.Optional)
	}
	if value, ok := object.Data[ref.Key]; ok {
		return value, true, nil
	}
	return "", false, missingKey("ConfigMap", namespace, ref.Name, ref.Key, ref.Optional)
}

func secretKey(ctx context.Context, source Source, namespace string, ref *corev1.SecretKeySelector) (string, bool, error) {
	object, err := source.Secret(ctx, namespace, ref.Name)
	if err != nil {
		return "", false, unlessOptional(err, ref.Optional)
	}
	if value, ok := object.Data[ref.Key]; ok {
		return string(value), true, nil
	}
	return "", false, missingKey("Secret", namespace, ref.Name, ref.Key, ref.Optional)
}

func missingKey(kind, namespace, name, key string, optional *bool) error {
	if optional != nil && *optional {
		return nil
	}
	return fmt.Errorf("couldn't find key %s in %s %s/%s", key, kind, namespace, name)
}

func unlessOptional(err error, optional *bool) error {
	if apierrors.IsNotFound(err) && optional != nil && *optional {
		return nil
	}
	return err
}
