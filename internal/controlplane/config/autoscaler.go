// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"weir.dev/pkg/configmap"
)

// Autoscaler is what the reconcilers need of config-autoscaler (facts.md 5.2): how many instances a new revision starts
// with. The autoscaler itself parses the whole.
type Autoscaler struct {
	// InitialScale is the scale of new Deployments whose Revision names none.
	InitialScale int32
	// AllowZeroInitialScale says that a Revision may ask for 0.
	AllowZeroInitialScale bool
}

func defaultAutoscaler() *Autoscaler { return &Autoscaler{InitialScale: 1} }

// NewAutoscaler parses config-autoscaler.
func NewAutoscaler(cm *corev1.ConfigMap) (*Autoscaler, error) {
	a := defaultAutoscaler()
	err := parse(cm,
		configmap.AsInt32("initial-scale", &a.InitialScale),
		configmap.AsBool("allow-zero-initial-scale", &a.AllowZeroInitialScale),
	)
	if err != nil {
		return nil, err
	}
	if a.InitialScale < 0 || (a.InitialScale == 0 && !a.AllowZeroInitialScale) {
		return nil, fmt.Errorf("ConfigMap %s: initial-scale %d is too small", cm.Name, a.InitialScale)
	}
	return a, nil
}

// Observability is what the reconcilers need of config-observability.
type Observability struct {
	// RevisionURLTemplate makes a Revision's logUrl, by replacing ${REVISION_UID}; "" is none.
	RevisionURLTemplate string
}

// NewObservability parses config-observability.
func NewObservability(cm *corev1.ConfigMap) (*Observability, error) {
	o := &Observability{}
	return o, parse(cm, configmap.AsString("logging.revision-url-template", &o.RevisionURLTemplate))
}
