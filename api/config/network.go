// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"strings"
	"text/template"

	"weir.dev/pkg/configmap"
)

// defaultTagTemplate is the tag-template of an empty config-network.
const defaultTagTemplate = "{{.Tag}}-{{.Name}}"

// Network is the part of config-network that validation depends on; controllers
// read the rest.
type Network struct{ tag *template.Template }

func defaultNetwork() *Network {
	return &Network{tag: template.Must(template.New("tag-template").Parse(defaultTagTemplate))}
}

// NewNetwork parses config-network.
func NewNetwork(data map[string]string) (*Network, error) {
	text := defaultTagTemplate
	err := configmap.Parse(data, configmap.AsString("tagTemplate", &text), configmap.AsString("tag-template", &text))
	if err != nil {
		return nil, err
	}
	tag, err := template.New("tag-template").Parse(text)
	if err != nil {
		return nil, fmt.Errorf("tag-template: %w", err)
	}
	return &Network{tag: tag}, nil
}

// TagName returns the name under which a tag of the Route called name is
// reached: the Route's own without a tag.
func (n *Network) TagName(tag, name string) (string, error) {
	if tag == "" {
		return name, nil
	}
	var b strings.Builder
	if err := n.tag.Execute(&b, struct{ Name, Tag string }{name, tag}); err != nil {
		return "", fmt.Errorf("expanding tag-template: %w", err)
	}
	return b.String(), nil
}
