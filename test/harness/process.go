// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package harness starts weir processes and talks to a running system with client-go and HTTP only, so that the same tests run
// against the embedded mode and any Kubernetes. Tests and the demo import it; it imports no part of Weir but the API
// types and clients.
package harness

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// readyLine begins the last line that weir up prints before it waits.
const readyLine = "Weir is ready"

// Weir is one process of weir up.
type Weir struct {
	Binary  string
	DataDir string
	cmd     *exec.Cmd
	ready   chan struct{}
	ended   chan struct{}
	err     error
}

// Start runs weir up; out gets what it prints. It does not wait.
func Start(binary, dataDir string, out io.Writer, args ...string) (*Weir, error) {
	w := &Weir{Binary: binary, DataDir: dataDir, ready: make(chan struct{}), ended: make(chan struct{})}
	w.cmd = exec.Command(binary, append([]string{"up", "--data-dir", dataDir}, args...)...)
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt of the caller is passed on once, by Stop
	w.cmd.Stderr = out
	stdout, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := w.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start weir: %w", err)
	}
	go w.follow(stdout, out)
	return w, nil
}

func (w *Weir) follow(stdout io.Reader, out io.Writer) {
	lines := bufio.NewScanner(stdout)
	isReady := false
	for lines.Scan() {
		fmt.Fprintln(out, lines.Text())
		if !isReady && strings.HasPrefix(lines.Text(), readyLine) {
			isReady = true
			close(w.ready)
		}
	}
	w.err = w.cmd.Wait()
	close(w.ended)
}

// PID is the process's.
func (w *Weir) PID() int { return w.cmd.Process.Pid }

// Kubeconfig is the path of the administrator's kubeconfig; the file is there once Weir is ready.
func (w *Weir) Kubeconfig() string { return filepath.Join(w.DataDir, "kubeconfig") }

// WaitReady returns when Weir says that it is ready, or has ended, or ctx is done.
func (w *Weir) WaitReady(ctx context.Context) error {
	select {
	case <-w.ready:
		return nil
	case <-w.ended:
		return fmt.Errorf("weir ended before it was ready: %w", errors.Join(w.err))
	case <-ctx.Done():
		return fmt.Errorf("weir is not ready: %w", ctx.Err())
	}
}

// Stop interrupts Weir and waits until it has ended; an exit code other than 0 is an error.
func (w *Weir) Stop(ctx context.Context) error {
	if err := w.cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-w.ended:
		return w.err
	case <-ctx.Done():
		return fmt.Errorf("weir does not stop: %w", ctx.Err())
	}
}

// Kill ends Weir as a crash would (SIGKILL): nothing is cleaned up.
func (w *Weir) Kill() {
	_ = w.cmd.Process.Kill()
	<-w.ended
}

// Purge removes what a killed Weir left behind, and its data.
func Purge(ctx context.Context, binary, dataDir string, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "down", "--purge", "--data-dir", dataDir)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("weir down --purge: %w", err)
	}
	return nil
}
