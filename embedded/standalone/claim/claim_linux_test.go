// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package claim_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"weir.dev/embedded/standalone/claim"
)

func TestOneAtATime(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	release, err := claim.Take(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := claim.Owner(dir); got != os.Getpid() {
		t.Errorf("owner %d, want this process", got)
	}
	if _, err := claim.Take(dir); !errors.Is(err, claim.ErrInUse) {
		t.Errorf("second claim: %v, want ErrInUse", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	again, err := claim.Take(dir)
	if err != nil {
		t.Fatalf("after the release: %v", err)
	}
	if err := again(); err != nil {
		t.Error(err)
	}
	if got := claim.Owner(dir); got != 0 {
		t.Errorf("owner %d of a directory that nobody holds", got)
	}
}

func TestDirectoryIsPrivate(t *testing.T) {
	dir := t.TempDir() // is there already, with another mode
	release, err := claim.Take(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v: keys lie in there", info.Mode())
	}
}

func TestForeignDirectoryIsLeftAlone(t *testing.T) {
	cases := map[string]struct {
		reason  string
		entries []string
		want    error
	}{
		"empty":       {"a new one", nil, nil},
		"images only": {"images may be built before the first start", []string{claim.Images}, nil},
		"claimed":     {"it was a data directory before", []string{"lock", "etcd"}, nil},
		"home":        {"--data-dir may be a typing error, and purge deletes", []string{".bashrc"}, claim.ErrForeign},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			for _, e := range tc.entries {
				if err := os.WriteFile(filepath.Join(dir, e), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			release, err := claim.Take(dir)
			if !errors.Is(err, tc.want) {
				t.Fatalf("error %v, want %v: %s", err, tc.want, tc.reason)
			}
			if err == nil {
				if err := release(); err != nil {
					t.Error(err)
				}
				return
			}
			info, err := os.Stat(dir)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm() != 0o755 {
				t.Errorf("its mode was changed to %v", info.Mode())
			}
		})
	}
}
