// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package testing sets the system namespace of tests that link it.
package testing

import (
	"os"

	"weir.dev/pkg/system"
)

// Namespace is the system namespace of tests that do not set another.
const Namespace = "knative-testing"

func init() {
	if os.Getenv(system.NamespaceEnvKey) == "" {
		if err := os.Setenv(system.NamespaceEnvKey, Namespace); err != nil {
			panic(err)
		}
	}
}
