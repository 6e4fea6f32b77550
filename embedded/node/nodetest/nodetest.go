// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package nodetest has what the node agent's tests with real containers need:
// a root file system with one small program, and a network. Only tests import it.
package nodetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Program is the test program's path in Rootfs; see testprogram/main.go.
const Program = "/bin/testprogram"

// buildOnce builds the test program, once a process.
var buildOnce = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "weir-testprogram-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "testprogram")
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, "weir.dev/embedded/node/nodetest/testprogram")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	return path, cmd.Run()
})

// Main runs a package's tests and removes what they share. TestMain calls it.
func Main(m *testing.M) int {
	code := m.Run()
	if path, _ := buildOnce(); path != "" {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	return code
}

// NeedContainers skips the test where containers cannot be made.
func NeedContainers(t testing.TB) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("making containers needs root")
	}
	for _, tool := range []string{"runc", "conmon"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("making containers needs %s", tool)
		}
	}
}

// Rootfs makes a directory that can serve as an image's only layer. It holds
// the test program, and users root and app (uid 1000, also in group 2000).
func Rootfs(t testing.TB) string {
	t.Helper()
	program, err := buildOnce()
	if err != nil {
		t.Fatalf("build test program: %v", err)
	}
	root := filepath.Join(t.TempDir(), "layer")
	data, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		Program:       string(data),
		"/etc/passwd": "root:x:0:0:root:/root:/bin/sh\napp:x:1000:1001:app:/home/app:/bin/sh\n",
		"/etc/group":  "root:x:0:\napp:x:1001:\nextra:x:2000:app\n",
	}
	for path, content := range files {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return root
}
