// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	specs "github.com/opencontainers/runtime-spec/specs-go"

	"weir.dev/embedded/node/ociruntime"
)

// Streams are the ends of an exec; all may be nil.
type Streams struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Terminal gives the command a terminal whose size Resize brings.
	Terminal bool
	Resize   <-chan ociruntime.Size
}

// Exec runs a command in a running container, as the container's user and with
// its environment. A code other than 0 is an *ociruntime.ExitError.
func (e *Engine) Exec(ctx context.Context, c Container, command []string, streams Streams) error {
	data, err := os.ReadFile(filepath.Join(e.bundle(c), "config.json"))
	if err != nil {
		return fmt.Errorf("read container's configuration: %w", err)
	}
	var spec specs.Spec
	if err := json.Unmarshal(data, &spec); err != nil {
		return fmt.Errorf("read container's configuration: %w", err)
	}
	if spec.Process == nil {
		return errors.New("container has no process")
	}
	process := *spec.Process
	process.Args = command
	process.Terminal = streams.Terminal
	if streams.Terminal {
		process.Env = append(process.Env, "TERM=xterm")
	}
	return e.cfg.Runtime.Exec(ctx, ociruntime.ExecRequest{
		ID: c.ID(), Process: process, Dir: e.bundle(c),
		Stdin: streams.Stdin, Stdout: streams.Stdout, Stderr: streams.Stderr, Resize: streams.Resize,
	})
}
