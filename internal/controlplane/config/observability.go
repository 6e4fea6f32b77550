// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	corev1 "k8s.io/api/core/v1"

	"weir.dev/pkg/configmap"
)

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
