// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package datadir_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"weir.dev/embedded/cluster/datadir"
)

func TestPrepare(t *testing.T) {
	cases := map[string]struct {
		reason string
		format string // "" is no file
		want   error
		any    bool
	}{
		"new":     {reason: "a missing directory is made"},
		"current": {reason: "what this version wrote is taken", format: "1\n"},
		"newer":   {reason: "an older weir must not touch it", format: "2\n", want: datadir.ErrNewerFormat},
		"damaged": {reason: "a guess could destroy data", format: "one", any: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			if tc.format != "" {
				if err := os.MkdirAll(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, "format"), []byte(tc.format), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			err := datadir.Prepare(dir)
			switch {
			case tc.any && err == nil:
				t.Errorf("no error: %s", tc.reason)
			case !tc.any && !errors.Is(err, tc.want):
				t.Errorf("error %v, want %v: %s", err, tc.want, tc.reason)
			}
		})
	}
}

func TestListenAPIKeepsItsPort(t *testing.T) {
	dir := t.TempDir()
	first, err := datadir.ListenAPI(dir)
	if err != nil {
		t.Fatal(err)
	}
	addr := first.Addr().String()

	// Another directory gets another port while this one is taken.
	other, err := datadir.ListenAPI(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if other.Addr().String() == addr {
		t.Error("two directories got one port")
	}

	first.Close()
	again, err := datadir.ListenAPI(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if again.Addr().String() != addr {
		t.Errorf("port changed from %s to %s: kubeconfigs would be stale", addr, again.Addr())
	}
}
