// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package netns

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

func pinPath(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("namespaces need root")
	}
	path := filepath.Join(t.TempDir(), "netns")
	t.Cleanup(func() {
		if err := Remove(path); err != nil {
			t.Error(err)
		}
	})
	return path
}

func here(t *testing.T) string {
	t.Helper()
	name, err := os.Readlink(current)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func TestNewAndDo(t *testing.T) {
	path, home := pinPath(t), here(t)
	var made string
	if err := New(path, func(*os.File) error { made = here(t); return nil }); err != nil {
		t.Fatal(err)
	}
	if made == home || !Pinned(path) {
		t.Errorf("made %s, home %s, pinned %v", made, home, Pinned(path))
	}
	// From many threads, of which none stays there.
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			err := Do(path, func() error {
				if got := here(t); got != made {
					t.Errorf("in %s, want %s", got, made)
				}
				if unix.Gettid() == unix.Getpid() {
					t.Error("the process's first thread changed its namespace")
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
			if got := here(t); got != home {
				t.Errorf("back in %s, want %s", got, home)
			}
		})
	}
	wg.Wait()
}

func TestNewFailsWhole(t *testing.T) {
	path := pinPath(t)
	want := errors.New("no")
	if err := New(path, func(*os.File) error { return want }); !errors.Is(err, want) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the pin is left: %v", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := New(path, func(*os.File) error { return nil }); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("over a file: %v", err)
	}
	if Pinned(path) {
		t.Error("a file counts as a namespace")
	}
}

func TestRemoveStacked(t *testing.T) {
	path := pinPath(t)
	if err := New(path, func(*os.File) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount(path, path, "", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	for range 2 { // The second is no error.
		if err := Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if Pinned(path) {
		t.Error("a mount is left")
	}
}
