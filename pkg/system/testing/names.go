// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package testing, linked into a test, sets the system namespace.
package testing

import (
	"os"

	"weir.dev/pkg/system"
)

// Namespace is the system namespace of tests that do not set another.
const Namespace = "knative-testing"

func init() {
	if os.Getenv(system.NamespaceEnvKey) == "" {
		os.Setenv(system.NamespaceEnvKey, Namespace)
	}
}
