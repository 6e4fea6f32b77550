// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package ociruntime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	specs "github.com/opencontainers/runtime-spec/specs-go"
)

// Size is a terminal's size in characters.
type Size struct {
	Width, Height uint16
}

// ExecRequest describes one more process in a running container.
type ExecRequest struct {
	// ID is the container.
	ID string
	// Process is what to run; its Terminal field decides about the terminal.
	Process specs.Process
	// Dir is a directory of the host for the call's scratch files.
	Dir string
	// Stdin, Stdout and Stderr may be nil. With a terminal Stderr is unused.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Resize brings the terminal's size; nil without a terminal.
	Resize <-chan Size
}

// ExitError is a process that ended with a code other than 0, or that could not
// be started for a reason that is the command's.
type ExitError struct {
	Code int
	// Message says why it could not be started, "" where it was.
	Message string
}

// Error implements error.
func (e *ExitError) Error() string {
	text := fmt.Sprintf("command terminated with exit code %d", e.Code)
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// String implements fmt.Stringer; exec servers of Kubernetes print it.
func (e *ExitError) String() string { return e.Error() }

// Exited says that the process ended by itself.
func (e *ExitError) Exited() bool { return true }

// ExitStatus is the process's exit code.
func (e *ExitError) ExitStatus() int { return e.Code }

// Exec runs a process in the container and waits for it. When ctx ends first
// the process is killed. A code other than 0 is an *ExitError, as is a command
// that there is not.
func (c *CLI) Exec(ctx context.Context, req ExecRequest) error {
	dir, err := os.MkdirTemp(req.Dir, "exec-")
	if err != nil {
		return fmt.Errorf("make scratch directory for exec: %w", err)
	}
	defer os.RemoveAll(dir)

	process, err := json.Marshal(req.Process)
	if err != nil {
		return fmt.Errorf("encode exec process: %w", err)
	}
	processFile, pidFile, logFile := filepath.Join(dir, "process.json"), filepath.Join(dir, "pid"), filepath.Join(dir, "log")
	if err := os.WriteFile(processFile, process, 0o600); err != nil {
		return fmt.Errorf("write exec process: %w", err)
	}

	args := append(c.GlobalArgs(), "--log="+logFile, "exec", "--process", processFile, "--pid-file", pidFile, req.ID)
	cmd := exec.CommandContext(ctx, c.path, args...)
	cmd.WaitDelay = 2 * time.Second
	cmd.Cancel = func() error { return killExec(cmd, pidFile) }
	if req.Process.Terminal {
		err = runInTerminal(ctx, cmd, req)
	} else {
		err = runWithPipes(cmd, req)
	}
	if _, missing := os.Stat(pidFile); err != nil && ctx.Err() == nil && errors.Is(missing, fs.ErrNotExist) {
		return c.notStarted(logFile, err)
	}
	return c.execResult(ctx, err)
}

// notStarted is what became of a command that never ran, which a runtime tells
// by a code that a command could have ended with, too. A command that cannot be
// run has the codes that shells give; the runtime has said why on stderr.
func (c *CLI) notStarted(logFile string, err error) error {
	const notExecutable, notFound = 126, 127
	log, readErr := os.ReadFile(logFile)
	message := Message(string(log))
	switch {
	case readErr != nil || message == "":
		return fmt.Errorf("%s exec: %w", c.Name(), err)
	case strings.Contains(message, "executable file not found"), strings.Contains(message, "no such file or directory"):
		return &ExitError{Code: notFound, Message: message}
	case strings.Contains(message, "permission denied"), strings.Contains(message, "is a directory"),
		strings.Contains(message, "exec format error"):
		return &ExitError{Code: notExecutable, Message: message}
	}
	return c.fail("exec", err, message)
}

// killExec kills the process inside the container; the runtime then ends too.
func killExec(cmd *exec.Cmd, pidFile string) error {
	if data, err := os.ReadFile(pidFile); err == nil {
		if pid, err := strconv.Atoi(strings.TrimSpace(string(data))); err == nil && pid > 1 {
			return syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	return cmd.Process.Kill()
}

func (c *CLI) execResult(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s exec: %w", c.Name(), ctx.Err())
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() >= 0 {
		return &ExitError{Code: exit.ExitCode()}
	}
	return fmt.Errorf("%s exec: %w", c.Name(), err)
}

// runWithPipes copies stdin by itself: exec.Cmd would wait for the client's
// stdin to end after the process has ended.
func runWithPipes(cmd *exec.Cmd, req ExecRequest) error {
	cmd.Stdout, cmd.Stderr = req.Stdout, req.Stderr
	if req.Stdin == nil {
		return cmd.Run()
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(stdin, req.Stdin)
		_ = stdin.Close()
	}()
	return cmd.Wait()
}
