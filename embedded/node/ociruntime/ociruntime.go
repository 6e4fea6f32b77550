// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package ociruntime drives the command line of an OCI runtime (runc, crun).
// It knows containers by their runtime id only; it must not know pods,
// images or monitors. Creating a container is the monitor's business, because
// the monitor must be the container's parent.
package ociruntime

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrNotFound says that the runtime does not know the container.
var ErrNotFound = errors.New("container does not exist")

// Config says which runtime to call and where it keeps its state.
type Config struct {
	// Path is the runtime's binary: a name looked up in PATH, or a path.
	Path string
	// Root is the runtime's state directory (runc --root).
	Root string
}

// CLI is an OCI runtime behind its command line.
type CLI struct {
	path string
	root string
}

// New finds the runtime's binary.
func New(cfg Config) (*CLI, error) {
	path, err := exec.LookPath(cfg.Path)
	if err != nil {
		return nil, fmt.Errorf("find OCI runtime %q: %w", cfg.Path, err)
	}
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find OCI runtime %q: %w", cfg.Path, err)
	}
	return &CLI{path: path, root: cfg.Root}, nil
}

// Path is the absolute path of the runtime's binary.
func (c *CLI) Path() string { return c.path }

// GlobalArgs are the arguments that every call needs before its subcommand.
func (c *CLI) GlobalArgs() []string { return []string{"--root=" + c.root} }

// Name is the runtime's short name, as in "runc".
func (c *CLI) Name() string { return filepath.Base(c.path) }

// Version is what the runtime prints as its version, for example "1.1.5".
func (c *CLI) Version(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, c.path, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", c.path, err)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	_, version, found := strings.Cut(line, "version ")
	if !found {
		return "unknown", nil
	}
	return strings.TrimSpace(version), nil
}

// Start runs the process of a created container.
func (c *CLI) Start(ctx context.Context, id string) error {
	return c.run(ctx, "start", id)
}

// Kill sends a signal to the container's first process.
// It returns ErrNotFound when the container or its process is gone.
func (c *CLI) Kill(ctx context.Context, id string, signal syscall.Signal) error {
	return c.run(ctx, "kill", id, strconv.Itoa(int(signal)))
}

// Delete kills what is left of the container and forgets it.
func (c *CLI) Delete(ctx context.Context, id string) error {
	err := c.run(ctx, "delete", "--force", id)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

func (c *CLI) run(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, c.path, append(c.GlobalArgs(), args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		return c.fail(args[0], err, stderr.String())
	}
	return nil
}

func (c *CLI) fail(verb string, err error, stderr string) error {
	message := Message(stderr)
	if strings.Contains(message, "does not exist") || strings.Contains(message, "process already finished") ||
		strings.Contains(message, "no such process") || strings.Contains(message, "container not running") {
		return fmt.Errorf("%s %s: %s: %w", c.Name(), verb, message, ErrNotFound)
	}
	if message == "" {
		return fmt.Errorf("%s %s: %w", c.Name(), verb, err)
	}
	return fmt.Errorf("%s %s: %s", c.Name(), verb, message)
}

// Message takes the readable part out of a runtime's log line
// (time="..." level=error msg="..."); other text is returned trimmed.
func Message(text string) string {
	text = strings.TrimSpace(text)
	for line := range strings.Lines(text) {
		_, quoted, found := strings.Cut(line, "level=error msg=")
		if !found {
			continue
		}
		if message, err := strconv.Unquote(strings.TrimSpace(quoted)); err == nil {
			return message
		}
		return strings.TrimSpace(quoted)
	}
	return text
}
