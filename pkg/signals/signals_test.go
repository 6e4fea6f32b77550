// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package signals_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"weir.dev/pkg/signals"
)

// childEnv has the test binary be a program that waits for signals.
const childEnv = "WEIR_TEST_SIGNALS"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) == "" {
		os.Exit(m.Run())
	}
	ctx := signals.NewContext()
	func() {
		defer func() { fmt.Println(recover()) }()
		signals.SetupSignalHandler()
	}()
	<-ctx.Done()
	fmt.Println("ending")
	select {} // the end takes for ever
}

// TestSignals: the first signal ends the context, the second the process; there
// is one handler of them, since another would take its signals.
func TestSignals(t *testing.T) {
	tests := map[string]struct {
		reason        string
		first, second syscall.Signal
	}{
		"Terminate": {"a pod is stopped", syscall.SIGTERM, syscall.SIGTERM},
		"Interrupt": {"a person at a terminal is impatient", syscall.SIGINT, syscall.SIGINT},
		"Both":      {"either counts", syscall.SIGINT, syscall.SIGTERM},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), childEnv+"=1")
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewReader(out)
			expect := func(want string) {
				t.Helper()
				if line, err := lines.ReadString('\n'); strings.TrimSpace(line) != want {
					t.Fatalf("%s: the program says %q, %v, want %q", tc.reason, line, err, want)
				}
			}
			expect("signals: the handler is already set up")
			if err := cmd.Process.Signal(tc.first); err != nil {
				t.Fatal(err)
			}
			expect("ending")
			if err := cmd.Process.Signal(tc.second); err != nil {
				t.Fatal(err)
			}
			var exit *exec.ExitError
			if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Errorf("%s: the second signal came to %v", tc.reason, err)
			}
		})
	}
}
