// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package e2e talks to a running Weir with client-go and HTTP only. Without flags that name one, it starts its own from the
// binary given with -weir; with -kubeconfig and -gateway it uses a system that runs elsewhere, and skips the tests that need to
// kill or restart the process.
package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"weir.dev/test/harness"
)

var (
	binary     = flag.String("weir", "", "the weir binary to start")
	kubeconfig = flag.String("kubeconfig", "", "use the system of this kubeconfig instead")
	gateway    = flag.String("gateway", "", "host:port of that system's gateway")
	image      = flag.String("image", "weir.local/probe", "image of test/apps/probe")
)

// sys is the system under test, set once by TestMain.
var sys *harness.System

// own is the process under test; nil where the system runs elsewhere.
var own *harness.Weir

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if *kubeconfig == "" && *binary == "" {
		fmt.Fprintln(os.Stderr, "e2e: give -weir, or -kubeconfig and -gateway")
		return 2
	}
	if *kubeconfig != "" {
		return connectAndRun(m, *kubeconfig, *gateway)
	}
	dir, err := os.MkdirTemp("", "weir-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	out, err := os.Create(filepath.Join(dir, "output"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	defer out.Close()
	own, err = startWeir(ctx, filepath.Join(dir, "data"), out)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		dump(out.Name())
		return 1
	}
	code := connectAndRun(m, own.Kubeconfig(), "")
	if err := stopWeir(own); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		code = 1
	}
	if code != 0 {
		dump(out.Name())
	}
	return code
}

func connectAndRun(m *testing.M, kubeconfig, gateway string) int {
	var err error
	if sys, err = harness.Connect(kubeconfig, gateway); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	// Zero within seconds instead of a minute and a half.
	if err := sys.SetConfig(ctx, "config-autoscaler", map[string]string{"scale-to-zero-grace-period": "1s"}); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	return m.Run()
}

// startWeir starts a Weir of its own data directory with the test application's image in it.
func startWeir(ctx context.Context, dataDir string, out *os.File, args ...string) (*harness.Weir, error) {
	build := exec.CommandContext(ctx, *binary, "image", "build", "../apps/probe", "--tag", *image, "--data-dir", dataDir)
	build.Stdout, build.Stderr = out, out
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("build the test image: %w", err)
	}
	w, err := harness.Start(*binary, dataDir, out, append([]string{"--listen", "127.0.0.1:0"}, args...)...)
	if err != nil {
		return nil, err
	}
	if err := w.WaitReady(ctx); err != nil {
		return nil, err
	}
	return w, nil
}

func stopWeir(w *harness.Weir) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return w.Stop(ctx)
}

func dump(file string) {
	raw, _ := os.ReadFile(file)
	const most = 200 << 10
	if len(raw) > most {
		raw = raw[len(raw)-most:]
	}
	fmt.Fprintf(os.Stderr, "--- what weir printed\n%s---\n", raw)
}
