// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"weir.dev/pkg/network"
)

// Domain is config-domain (facts.md 6.12): which domain a Route lives under, by its labels.
type Domain struct {
	// entries are sorted by name; one has no selector.
	entries []domainEntry
}

type domainEntry struct {
	name     string
	selector map[string]string
}

// domainValue is what is said of a domain.
type domainValue struct {
	Selector map[string]string `json:"selector"`
	Type     string            `json:"type"` // of no effect
}

func defaultDomain() *Domain {
	return &Domain{entries: []domainEntry{{name: ClusterLocalDomain()}}}
}

// ClusterLocalDomain is the domain of names that are reached from inside the cluster only.
func ClusterLocalDomain() string {
	return "svc." + network.GetClusterDomainName()
}

// NewDomain parses config-domain: every key that does not start with an underscore is a domain.
func NewDomain(cm *corev1.ConfigMap) (*Domain, error) {
	d, hasDefault := &Domain{}, false
	for name, text := range cm.Data {
		if strings.HasPrefix(name, "_") {
			continue
		}
		var value domainValue
		if err := yaml.Unmarshal([]byte(text), &value); err != nil {
			return nil, fmt.Errorf("ConfigMap %s: domain %q: %w", cm.Name, name, err)
		}
		hasDefault = hasDefault || len(value.Selector) == 0
		d.entries = append(d.entries, domainEntry{name: name, selector: value.Selector})
	}
	if !hasDefault {
		d.entries = append(d.entries, domainEntry{name: ClusterLocalDomain()})
	}
	sort.Slice(d.entries, func(i, j int) bool { return d.entries[i].name < d.entries[j].name })
	return d, nil
}

// Lookup returns the domain for an object with these labels: the entry whose selector has the most labels among those that
// match, the first by name among equals.
func (d *Domain) Lookup(of map[string]string) string {
	best, most := "", -1
	for _, e := range d.entries {
		if len(e.selector) > most && labels.SelectorFromSet(e.selector).Matches(labels.Set(of)) {
			best, most = e.name, len(e.selector)
		}
	}
	return best
}
