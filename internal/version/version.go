// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package version says which Weir this is. Anybody may import it.
package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// release is set by the linker (-X weir.dev/internal/version.release=v1.2.3) for releases; "" elsewhere.
var release string

// String gives the release, or the revision of the checkout, or "dev".
func String() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "dev"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "dev-" + s.Value[:12]
		}
	}
	return "dev"
}

// Full adds the Go version and platform, and the Kubernetes libraries that this binary links.
func Full() string {
	return fmt.Sprintf("weir %s %s %s/%s kubernetes %s", String(), runtime.Version(), runtime.GOOS, runtime.GOARCH,
		dependency("k8s.io/kubernetes", "k8s.io/client-go"))
}

// dependency gives the version of the first of these modules that is linked.
func dependency(modules ...string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, m := range modules {
		for _, d := range info.Deps {
			if d.Path == m {
				return d.Version
			}
		}
	}
	return "none"
}
