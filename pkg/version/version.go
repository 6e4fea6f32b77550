// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package version refuses Kubernetes versions that are too old to work.
package version

import (
	"fmt"
	"os"

	utilversion "k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apimachinery/pkg/version"
)

const (
	// MinimumVersionEnvKey is the environment variable that overrides the
	// minimum version.
	MinimumVersionEnvKey = "KUBERNETES_MIN_VERSION"

	defaultMinimumVersion = "v1.34.0"
)

// ServerVersionInterface asks a server its version; discovery clients do.
type ServerVersionInterface interface {
	ServerVersion() (*version.Info, error)
}

// CheckMinimumVersion returns an error if the server is older than the minimum
// version, or does not tell.
func CheckMinimumVersion(server ServerVersionInterface) error {
	info, err := server.ServerVersion()
	if err != nil {
		return fmt.Errorf("asking the Kubernetes version: %w", err)
	}
	current, err := utilversion.ParseGeneric(info.GitVersion)
	if err != nil {
		return fmt.Errorf("the Kubernetes version: %w", err)
	}
	minimum, err := utilversion.ParseGeneric(minimumVersion())
	if err != nil {
		return fmt.Errorf("the minimum Kubernetes version: %w", err)
	}
	if current.LessThan(minimum) {
		return fmt.Errorf("kubernetes is %s; %s or newer is needed (%s overrides this)",
			current, minimum, MinimumVersionEnvKey)
	}
	return nil
}

func minimumVersion() string {
	if v := os.Getenv(MinimumVersionEnvKey); v != "" {
		return v
	}
	return defaultMinimumVersion
}
