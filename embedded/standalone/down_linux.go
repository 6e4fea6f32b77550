// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package standalone

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"weir.dev/embedded/network"
	"weir.dev/embedded/node"
	"weir.dev/embedded/standalone/claim"
)

// DownConfig says which Weir to end and how thoroughly.
type DownConfig struct {
	DataDir string
	// Purge deletes the data directory too.
	Purge bool
	Out   io.Writer
}

// stopTimeout is a hang detector: stopping waits for requests in hand and for containers' grace periods.
const stopTimeout = 2 * time.Minute

// Down stops the Weir of a data directory, if one runs, and removes whatever it left in the kernel: containers, mounts,
// bridge, tables, routes. It is not an error if there is nothing to do.
func Down(ctx context.Context, cfg DownConfig) (err error) {
	if cfg.DataDir, err = filepath.Abs(cfg.DataDir); err != nil {
		return err
	}
	if _, err := os.Stat(cfg.DataDir); errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(cfg.Out, "Nothing to do: %s does not exist.\n", cfg.DataDir)
		return nil
	}
	release, err := takeOver(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	if err := errors.Join(node.Purge(cfg.DataDir), network.Purge(cfg.DataDir)); err != nil {
		return fmt.Errorf("clean up: %w", err)
	}
	if !cfg.Purge {
		return nil
	}
	return purgeData(cfg.DataDir)
}

// takeOver asks the process that holds the directory to end, and claims the directory when it has.
func takeOver(ctx context.Context, cfg DownConfig) (release func() error, err error) {
	release, err = claim.Take(cfg.DataDir)
	if !errors.Is(err, claim.ErrInUse) {
		return release, err
	}
	pid := claim.Owner(cfg.DataDir)
	if pid == 0 {
		return nil, err
	}
	fmt.Fprintf(cfg.Out, "Stopping weir (process %d) ...\n", pid)
	if err := syscall.Kill(pid, syscall.SIGINT); err != nil {
		return nil, fmt.Errorf("interrupt process %d: %w", pid, err)
	}
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if release, err = claim.Take(cfg.DataDir); !errors.Is(err, claim.ErrInUse) {
			return release, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("process %d does not end: %w", pid, ctx.Err())
		case <-tick.C:
		}
	}
}

// ours is everything that a Weir writes into its data directory.
var ours = []string{
	"addresses.json", "api-port", "domain", "etcd", "etcd.log", "format", claim.Images, "kubeconfig", "kubernetes.log",
	"kubernetes.log.1", "lock", "network", "node", "pki", "run", "webhook", "webhook-port",
}

// purgeData deletes what is ours in the directory, and the directory if nothing else is in it.
func purgeData(dir string) error {
	for _, name := range ours {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("delete data: %w", err)
		}
	}
	err := os.Remove(dir)
	if errors.Is(err, syscall.EBUSY) || errors.Is(err, syscall.ENOTEMPTY) {
		return nil // a mount point, or somebody else's files
	}
	return err
}
