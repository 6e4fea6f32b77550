// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package crdgen

import (
	"encoding/json"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// header begins each file.
const header = `# SPDX-FileCopyrightText: The Weir Authors
# SPDX-License-Identifier: Apache-2.0
# Generated from the types in api/ by "make generate". Do not edit.
`

// FileName is the name of the file with the definition of k.
func (k Kind) FileName() string { return k.Group + "_" + k.Plural + ".yaml" }

// YAML writes a definition as a file.
func YAML(crd *apiextensionsv1.CustomResourceDefinition) ([]byte, error) {
	raw, err := json.Marshal(crd)
	if err != nil {
		return nil, fmt.Errorf("marshal %s: %w", crd.Name, err)
	}
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, fmt.Errorf("unmarshal %s: %w", crd.Name, err)
	}
	delete(fields, "status")
	body, err := yaml.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", crd.Name, err)
	}
	return append([]byte(header), body...), nil
}
