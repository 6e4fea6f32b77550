// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/yaml"

	"weir.dev/pkg/configmap"
)

// The values of the key default-affinity-type.
const (
	AffinitySpread = "prefer-spread-revision-over-nodes"
	AffinityNone   = "none"
)

// Deployment is config-deployment (facts.md 6.14). The queue-sidecar keys have no effect: there is no sidecar.
type Deployment struct {
	// RegistriesSkippingTagResolving are the registries whose tags are never looked up.
	RegistriesSkippingTagResolving sets.Set[string]
	// DigestResolutionTimeout bounds one look-up.
	DigestResolutionTimeout time.Duration
	// ProgressDeadline is how long a revision may take to become ready, and the end of every Unknown.
	ProgressDeadline time.Duration
	// DefaultAffinity is AffinitySpread or AffinityNone.
	DefaultAffinity string
	// PodIsAlwaysSchedulable says that nodes come when pods need them: an unschedulable pod is then no failure until the
	// progress deadline.
	PodIsAlwaysSchedulable bool

	runtimeClasses map[string]runtimeClass
}

type runtimeClass struct {
	Selector map[string]string `json:"selector"`
}

// localRegistries hold images that exist on the node only (design.md, Nothing leaves the machine).
var localRegistries = [...]string{"kind.local", "ko.local", "dev.local", "weir.local", "localhost"}

func defaultDeployment() *Deployment {
	return &Deployment{
		RegistriesSkippingTagResolving: sets.New(localRegistries[:]...),
		DigestResolutionTimeout:        10 * time.Second,
		ProgressDeadline:               600 * time.Second,
		DefaultAffinity:                AffinitySpread,
	}
}

// NewDeployment parses config-deployment.
func NewDeployment(cm *corev1.ConfigMap) (*Deployment, error) {
	d := defaultDeployment()
	var classes string
	err := parse(cm,
		configmap.AsStringSet("registriesSkippingTagResolving", &d.RegistriesSkippingTagResolving),
		configmap.AsStringSet("registries-skipping-tag-resolving", &d.RegistriesSkippingTagResolving),
		configmap.AsDuration("digestResolutionTimeout", &d.DigestResolutionTimeout),
		configmap.AsDuration("digest-resolution-timeout", &d.DigestResolutionTimeout),
		configmap.AsDuration("progressDeadline", &d.ProgressDeadline),
		configmap.AsDuration("progress-deadline", &d.ProgressDeadline),
		configmap.AsString("default-affinity-type", &d.DefaultAffinity),
		configmap.AsString("runtime-class-name", &classes),
		configmap.AsBool("pod-is-always-schedulable", &d.PodIsAlwaysSchedulable),
	)
	if err != nil {
		return nil, err
	}
	d.RegistriesSkippingTagResolving = d.RegistriesSkippingTagResolving.Union(sets.New(localRegistries[:]...))
	if err := yaml.Unmarshal([]byte(classes), &d.runtimeClasses); err != nil {
		return nil, fmt.Errorf("ConfigMap %s: runtime-class-name: %w", cm.Name, err)
	}
	return d, d.check()
}

func (d *Deployment) check() error {
	switch {
	case d.DigestResolutionTimeout <= 0:
		return fmt.Errorf("config-deployment: digest-resolution-timeout %s must be positive", d.DigestResolutionTimeout)
	case d.ProgressDeadline <= 0 || d.ProgressDeadline%time.Second != 0:
		return fmt.Errorf("config-deployment: progress-deadline %s must be positive whole seconds", d.ProgressDeadline)
	case d.DefaultAffinity != AffinitySpread && d.DefaultAffinity != AffinityNone:
		return fmt.Errorf("config-deployment: default-affinity-type %q is unknown", d.DefaultAffinity)
	}
	return nil
}

// RuntimeClassName returns the runtime class for pods with these labels, nil for the cluster's default. The class with the
// most selector labels among those that match wins, the first by name among equals.
func (d *Deployment) RuntimeClassName(of map[string]string) *string {
	var best *string
	most := -1
	for name, class := range d.runtimeClasses {
		if !labels.SelectorFromSet(class.Selector).Matches(labels.Set(of)) {
			continue
		}
		if n := len(class.Selector); n > most || (n == most && name < *best) {
			best, most = &name, n
		}
	}
	return best
}
