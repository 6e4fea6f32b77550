// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestCreateAndRemoveWithProcesses(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("making cgroups needs root")
	}
	root := fmt.Sprintf("weir-test-%d", os.Getpid())
	path := filepath.Join(root, "pod")
	t.Cleanup(func() { _ = Remove(context.Background(), root) })
	limits := Limits{Shares: 512, Quota: 50_000, Period: 100_000, Memory: 64 << 20, Pids: 100}
	for range 2 {
		if err := Create(path, limits); err != nil {
			t.Fatalf("Create: %v", err)
		}
	}
	dirs := trees(path)
	if len(dirs) == 0 {
		t.Fatal("no cgroup was made")
	}

	sleeper := exec.Command("sleep", "1000")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), fmt.Appendf(nil, "%d", sleeper.Process.Pid), 0); err != nil {
			t.Fatalf("join %s: %v", dir, err)
		}
	}
	if err := Prune(root); err != nil || len(trees(path)) == 0 {
		t.Errorf("Prune of a cgroup in use: %v", err)
	}
	reaped := make(chan struct{})
	go func() { _ = sleeper.Wait(); close(reaped) }()

	if err := Remove(t.Context(), root); err != nil {
		t.Fatalf("Remove: %v", err)
	}
	<-reaped
	if left := trees(root); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
	if err := Remove(t.Context(), root); err != nil {
		t.Errorf("Remove of a cgroup that is gone: %v", err)
	}
}
