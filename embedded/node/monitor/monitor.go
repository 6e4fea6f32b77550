// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package monitor starts containers under conmon, the small process that
// outlives ours: it is the container's parent, writes its output to a log file
// and its exit code to a file. So a restart of our process loses neither.
//
// It knows bundles and runtime ids, not pods. Everything it needs to find a
// container again lies in the bundle's directory.
package monitor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"weir.dev/embedded/node/ociruntime"
)

// ErrLost says that a container's monitor ended without telling its exit code.
var ErrLost = errors.New("container's monitor is gone without an exit code")

// Runtime is what a monitor must know of the OCI runtime that it calls.
type Runtime interface {
	Path() string
	GlobalArgs() []string
}

// Container names one container for the monitor.
type Container struct {
	// ID is the runtime's id of the container.
	ID string
	// Bundle is the OCI bundle; the monitor's own files go into it too.
	Bundle string
	// LogPath gets the output in the CRI log format.
	LogPath string
	// LogLimit bounds the log in bytes when nobody rotates it; 0 is unlimited.
	LogLimit int64
	// Stdin keeps a pipe open for attaching; without it stdin is at its end.
	Stdin bool
	// Terminal says that the process of the bundle has a terminal.
	Terminal bool
}

// Exit is how a container ended.
type Exit struct {
	Code      int
	At        time.Time
	OOMKilled bool
}

// Conmon starts containers with the conmon program.
type Conmon struct {
	path    string
	runtime Runtime
}

// New finds the conmon binary, a name looked up in PATH or a path.
func New(path string, runtime Runtime) (*Conmon, error) {
	path, err := exec.LookPath(path)
	if err != nil {
		return nil, fmt.Errorf("find conmon: %w", err)
	}
	return &Conmon{path: path, runtime: runtime}, nil
}

// Create makes the container of the bundle, without starting its process, and
// returns the process's pid.
func (m *Conmon) Create(ctx context.Context, c Container) (int, error) {
	// A container created anew in the same bundle must not find an old end.
	_ = os.Remove(exitFile(c))
	diagnostics, err := os.OpenFile(filepath.Join(c.Bundle, "monitor.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return 0, fmt.Errorf("open monitor's log: %w", err)
	}
	defer diagnostics.Close()
	syncRead, syncWrite, err := os.Pipe()
	if err != nil {
		return 0, fmt.Errorf("make monitor's pipe: %w", err)
	}
	defer syncRead.Close()

	cmd := exec.CommandContext(ctx, m.path, m.args(c)...)
	// conmon leaves files about the container in its working directory, too.
	cmd.Dir = c.Bundle
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "_OCI_SYNCPIPE=3"}
	cmd.ExtraFiles = []*os.File{syncWrite}
	cmd.Stderr = diagnostics
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Run()
	_ = syncWrite.Close()
	if err != nil {
		return 0, fmt.Errorf("run conmon: %w: %s", err, tail(diagnostics.Name()))
	}
	return awaitPID(ctx, syncRead, diagnostics.Name())
}

func (m *Conmon) args(c Container) []string {
	args := []string{
		"--api-version", "1", "--cid", c.ID, "--cuuid", c.ID, "--name", c.ID,
		"--runtime", m.runtime.Path(), "--bundle", c.Bundle,
		"--container-pidfile", filepath.Join(c.Bundle, "pid"),
		"--conmon-pidfile", filepath.Join(c.Bundle, "conmon.pid"),
		"--persist-dir", c.Bundle,
		"--log-path", "k8s-file:" + c.LogPath, "--log-level", "warning",
		"--no-sync-log", "--full-attach",
	}
	for _, arg := range m.runtime.GlobalArgs() {
		args = append(args, "--runtime-arg", arg)
	}
	if c.LogLimit > 0 {
		args = append(args, "--log-size-max", strconv.FormatInt(c.LogLimit, 10))
	}
	if c.Stdin {
		args = append(args, "--stdin")
	}
	if c.Terminal {
		args = append(args, "--terminal")
	}
	return args
}

// awaitPID reads conmon's one message: the pid, or why there is none.
func awaitPID(ctx context.Context, pipe *os.File, diagnostics string) (int, error) {
	stop := context.AfterFunc(ctx, func() { _ = pipe.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	var message struct {
		Data    int    `json:"data"`
		Message string `json:"message"`
	}
	err := json.NewDecoder(pipe).Decode(&message)
	switch {
	case ctx.Err() != nil:
		return 0, fmt.Errorf("create container: %w", ctx.Err())
	case errors.Is(err, io.EOF):
		return 0, fmt.Errorf("create container: monitor ended: %s", tail(diagnostics))
	case err != nil:
		return 0, fmt.Errorf("read monitor's answer: %w", err)
	case message.Data <= 0:
		text := ociruntime.Message(message.Message)
		if text == "" {
			text = tail(diagnostics)
		}
		return 0, fmt.Errorf("create container: %s", text)
	}
	return message.Data, nil
}

// tail is the end of a small text file, for messages.
func tail(path string) string {
	data, err := os.ReadFile(path)
	if err != nil || len(data) == 0 {
		return "no message"
	}
	if len(data) > 512 {
		data = data[len(data)-512:]
	}
	return strings.TrimSpace(string(data))
}

// exitFile is where conmon leaves the exit code, below --persist-dir.
func exitFile(c Container) string { return filepath.Join(c.Bundle, "exit") }
