// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"weir.dev/embedded/node/downward"
)

// file is one file of a projected volume.
type file struct {
	data []byte
	mode int32
	// owner is nil for root.
	owner *int64
}

const defaultMode = 0o644

// payload reads everything that a volume shows, by path below its directory.
func (s *Set) payload(ctx context.Context, pod *corev1.Pod, v *corev1.Volume) (map[string]file, error) {
	files := map[string]file{}
	switch {
	case v.ConfigMap != nil:
		c := v.ConfigMap
		return files, s.addConfigMap(ctx, pod, c.Name, c.Items, c.Optional, mode(c.DefaultMode), files)
	case v.Secret != nil:
		c := v.Secret
		return files, s.addSecret(ctx, pod, c.SecretName, c.Items, c.Optional, mode(c.DefaultMode), files)
	case v.DownwardAPI != nil:
		return files, s.addDownward(pod, v.DownwardAPI.Items, mode(v.DownwardAPI.DefaultMode), files)
	}
	for i := range v.Projected.Sources {
		if err := s.addProjection(ctx, pod, v, &v.Projected.Sources[i], files); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func (s *Set) addProjection(ctx context.Context, pod *corev1.Pod, v *corev1.Volume, p *corev1.VolumeProjection, files map[string]file) error {
	usual := mode(v.Projected.DefaultMode)
	switch {
	case p.ConfigMap != nil:
		return s.addConfigMap(ctx, pod, p.ConfigMap.Name, p.ConfigMap.Items, p.ConfigMap.Optional, usual, files)
	case p.Secret != nil:
		return s.addSecret(ctx, pod, p.Secret.Name, p.Secret.Items, p.Secret.Optional, usual, files)
	case p.DownwardAPI != nil:
		return s.addDownward(pod, p.DownwardAPI.Items, usual, files)
	case p.ServiceAccountToken != nil:
		return s.addToken(ctx, pod, v.Name, p.ServiceAccountToken, usual, files)
	}
	return fmt.Errorf("one of its sources: %w", ErrUnsupported)
}

func mode(set *int32) int32 {
	if set == nil {
		return defaultMode
	}
	return *set
}

func (s *Set) addConfigMap(ctx context.Context, pod *corev1.Pod, name string, items []corev1.KeyToPath, optional *bool, usual int32, files map[string]file) error {
	object, err := s.source.ConfigMap(ctx, pod.Namespace, name)
	if err != nil {
		return unlessOptional(err, optional)
	}
	data := map[string][]byte{}
	for key, value := range object.Data {
		data[key] = []byte(value)
	}
	for key, value := range object.BinaryData {
		data[key] = value
	}
	return addKeys("configmap", name, data, items, optional, usual, files)
}

func (s *Set) addSecret(ctx context.Context, pod *corev1.Pod, name string, items []corev1.KeyToPath, optional *bool, usual int32, files map[string]file) error {
	object, err := s.source.Secret(ctx, pod.Namespace, name)
	if err != nil {
		return unlessOptional(err, optional)
	}
	return addKeys("secret", name, object.Data, items, optional, usual, files)
}

func unlessOptional(err error, optional *bool) error {
	if apierrors.IsNotFound(err) && optional != nil && *optional {
		return nil
	}
	return err
}

// addKeys adds all keys as files of their name, or just the listed ones.
func addKeys(kind, name string, data map[string][]byte, items []corev1.KeyToPath, optional *bool, usual int32, files map[string]file) error {
	if len(items) == 0 {
		for key, value := range data {
			files[key] = file{data: value, mode: usual}
		}
		return nil
	}
	for _, item := range items {
		value, ok := data[item.Key]
		if !ok {
			if optional != nil && *optional {
				continue
			}
			return fmt.Errorf("%s %q has no key %q", kind, name, item.Key)
		}
		fileMode := usual
		if item.Mode != nil {
			fileMode = *item.Mode
		}
		files[item.Path] = file{data: value, mode: fileMode}
	}
	return nil
}

func (s *Set) addDownward(pod *corev1.Pod, items []corev1.DownwardAPIVolumeFile, usual int32, files map[string]file) error {
	for _, item := range items {
		value, err := s.downwardValue(pod, item)
		if err != nil {
			return err
		}
		fileMode := usual
		if item.Mode != nil {
			fileMode = *item.Mode
		}
		files[item.Path] = file{data: []byte(value), mode: fileMode}
	}
	return nil
}

func (s *Set) downwardValue(pod *corev1.Pod, item corev1.DownwardAPIVolumeFile) (string, error) {
	if item.FieldRef != nil {
		return downward.Field(pod, item.FieldRef.FieldPath)
	}
	selector := item.ResourceFieldRef
	if selector == nil {
		return "", fmt.Errorf("file %s has no source", item.Path)
	}
	all := append(slices.Clone(pod.Spec.Containers), pod.Spec.InitContainers...)
	i := slices.IndexFunc(all, func(c corev1.Container) bool { return c.Name == selector.ContainerName })
	if i < 0 {
		return "", fmt.Errorf("container %q not found", selector.ContainerName)
	}
	return downward.Resource(&all[i], selector, s.node)
}
