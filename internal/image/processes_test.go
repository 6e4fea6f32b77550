// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// processEnv tells the test binary that it is one of several processes on a store.
const processEnv = "WEIR_TEST_IMAGE_STORE"

func TestManyProcesses(t *testing.T) {
	if dir := os.Getenv(processEnv); dir != "" {
		useStore(t, dir)
		return
	}
	s := openStore(t)
	put(t, s, "weir.local/shared", testImage(t, tarball(t, file("a", "1"))))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run=^TestManyProcesses$")
			cmd.Env = append(os.Environ(), processEnv+"="+s.dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	wg.Wait()
	if got, err := s.List(); err != nil || len(got) != 1 {
		t.Errorf("names left: %v, %v", got, err)
	}
	if err := s.Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := files(t, s.path(blobsDir)); len(got) != 3 {
		t.Errorf("%d blobs left, want the 3 of the shared image", len(got))
	}
}

// useStore does what commands and nodes do, while others collect garbage.
func useStore(t *testing.T, dir string) {
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		name := fmt.Sprintf("weir.local/p%d-%d", os.Getpid(), i)
		img := putHeld(t, s, name, testImage(t, tarball(t, file("own", name))))
		if dirs, err := s.Unpack(t.Context(), img); err != nil || len(files(t, dirs[0])) != 1 {
			t.Fatalf("own image: %v, %v", dirs, err)
		}
		if _, err := s.Lookup("weir.local/shared"); err != nil {
			t.Fatal(err)
		}
		if err := s.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}

// putHeld stores an image as Pull does: under the lock that keeps collectors away.
func putHeld(t *testing.T, s *Store, name string, img v1.Image) *Image {
	t.Helper()
	use, err := s.use(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer use.unlock()
	return put(t, s, name, img)
}
