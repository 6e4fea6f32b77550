// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package version

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/version"
)

type server struct {
	version string
	err     error
}

func (s server) ServerVersion() (*version.Info, error) {
	return &version.Info{GitVersion: s.version}, s.err
}

func TestCheckMinimumVersion(t *testing.T) {
	tests := map[string]struct {
		server  server
		minimum string
		ok      bool
	}{
		"Newer":      {server{version: "v1.37.2"}, "", true},
		"Equal":      {server{version: "v1.34.0"}, "", true},
		"Vendor":     {server{version: "v1.34.1-gke.100+abc"}, "", true},
		"Older":      {server{version: "v1.33.9"}, "", false},
		"Lowered":    {server{version: "v1.20.0"}, "v1.19.0", true},
		"Nonsense":   {server{version: "soon"}, "", false},
		"NoAnswer":   {server{err: errors.New("no answer")}, "", false},
		"BadMinimum": {server{version: "v1.37.0"}, "soon", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv(MinimumVersionEnvKey, tc.minimum)
			if err := CheckMinimumVersion(tc.server); (err == nil) != tc.ok {
				t.Errorf("CheckMinimumVersion() = %v, want it to pass: %t", err, tc.ok)
			}
		})
	}
}
