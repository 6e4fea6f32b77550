// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package crd carries the CustomResourceDefinitions, as generated from the
// types in api/. Whoever installs them imports it.
package crd

import (
	"embed"
	"fmt"
	"io/fs"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

//go:embed *.yaml
var files embed.FS

// Files returns the YAML files, one definition each.
func Files() fs.FS { return files }

// CRDs returns the definitions in the order of their names.
func CRDs() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("list definitions: %w", err)
	}
	crds := make([]*apiextensionsv1.CustomResourceDefinition, 0, len(entries))
	for _, e := range entries {
		body, err := files.ReadFile(e.Name())
		if err != nil {
			return nil, fmt.Errorf("read definition: %w", err)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(body, crd); err != nil {
			return nil, fmt.Errorf("parse %s: %w", e.Name(), err)
		}
		crds = append(crds, crd)
	}
	return crds, nil
}
