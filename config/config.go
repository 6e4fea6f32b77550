// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package config carries what an installation consists of beside the CustomResourceDefinitions (package crd): the rights of
// the controller, and the ConfigMaps with the operator's settings. Whoever installs Weir imports it.
package config

import (
	"embed"
	"fmt"
	"io/fs"
	"path"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

//go:embed rbac/*.yaml configmaps/*.yaml
var files embed.FS

// Files returns the YAML files, one object each.
func Files() fs.FS { return files }

// RBAC returns the controller's ServiceAccount, roles and bindings, in an order in which they can be created.
func RBAC() ([]*unstructured.Unstructured, error) { return objects("rbac") }

// ConfigMaps returns the config-* ConfigMaps with the values that differ from the defaults built in.
func ConfigMaps() ([]*unstructured.Unstructured, error) { //nolint:revive // ConfigMap is the kind's name
	return objects("configmaps")
}

// ConfigMapNames returns the names of the ConfigMaps that the controller follows: all must exist.
func ConfigMapNames() ([]string, error) { //nolint:revive // as above
	maps, err := ConfigMaps()
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(maps))
	for _, m := range maps {
		names = append(names, m.GetName())
	}
	return names, nil
}

// objects returns the objects of one folder in the order of its files.
func objects(dir string) ([]*unstructured.Unstructured, error) {
	entries, err := files.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list manifests: %w", err)
	}
	all := make([]*unstructured.Unstructured, 0, len(entries))
	for _, e := range entries {
		body, err := files.ReadFile(path.Join(dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read manifest: %w", err)
		}
		o := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict(body, &o.Object); err != nil {
			return nil, fmt.Errorf("parse %s/%s: %w", dir, e.Name(), err)
		}
		all = append(all, o)
	}
	return all, nil
}
