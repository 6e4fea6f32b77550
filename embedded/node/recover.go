// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"weir.dev/embedded/node/engine"
	"weir.dev/embedded/node/logs"
	"weir.dev/embedded/node/pod"
	noderecord "weir.dev/embedded/node/record"
)

// recover takes over the pods of an earlier process and removes what no pod
// accounts for. Nothing has survived a restart of the machine.
func (n *Node) recover(ctx context.Context) error {
	if err := os.MkdirAll(dirOf(n.cfg.DataDir), 0o711); err != nil {
		return fmt.Errorf("make node directory: %w", err)
	}
	if err := n.afterBoot(ctx); err != nil {
		return err
	}
	ids, err := n.engine.Sandboxes()
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, id := range ids {
		r, err := n.records.Load(id)
		if errors.Is(err, noderecord.ErrNone) {
			n.cfg.Log.Info("removing sandbox without a pod", "sandbox", id)
			if err := n.engine.CloseSandbox(ctx, id); err != nil {
				return fmt.Errorf("remove orphaned sandbox %s: %w", id, err)
			}
			continue
		}
		if err != nil {
			return err
		}
		known[id] = true
		n.provider.run(pod.Adopt(n.provider.config, r))
	}
	return n.releaseImages(known)
}

// afterBoot removes the files that describe an earlier run of the machine.
func (n *Node) afterBoot(ctx context.Context) error {
	current, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return fmt.Errorf("read boot id: %w", err)
	}
	dir := dirOf(n.cfg.DataDir)
	path := filepath.Join(dir, "boot-id")
	last, err := os.ReadFile(path)
	if err == nil && string(last) == string(current) {
		return nil
	}
	if err == nil {
		n.cfg.Log.Info("the machine was restarted, its pods are started anew")
		ids, err := n.engine.Sandboxes()
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := n.cfg.Network.Detach(ctx, id); err != nil {
				return fmt.Errorf("detach sandbox %s: %w", id, err)
			}
		}
		if err := engine.Purge(ctx, dir); err != nil {
			return err
		}
		if err := os.MkdirAll(dir, 0o711); err != nil {
			return fmt.Errorf("make node directory: %w", err)
		}
	}
	if err := os.WriteFile(path, current, 0o644); err != nil {
		return fmt.Errorf("write boot id: %w", err)
	}
	return nil
}

// holders is what an image store may offer besides pull.Store.
type holders interface {
	Holders() (map[string]string, error)
}

// releaseImages releases images held for sandboxes that are gone.
func (n *Node) releaseImages(known map[string]bool) error {
	store, ok := n.cfg.Images.(holders)
	if !ok {
		return nil
	}
	owners, err := store.Holders()
	if err != nil {
		return err
	}
	for owner := range owners {
		id, _, _ := strings.Cut(owner, "-")
		if known[id] {
			continue
		}
		if err := n.cfg.Images.Release(owner); err != nil {
			return err
		}
	}
	return nil
}

// rotateLogs keeps the logs of running containers bounded.
func (n *Node) rotateLogs(ctx context.Context) {
	const interval = 10 * time.Second
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		for _, running := range n.provider.all() {
			for _, c := range running.Snapshot().Status.ContainerStatuses {
				n.rotateLog(running, c.Name)
			}
		}
	}
}

func (n *Node) rotateLog(running *pod.Pod, name string) {
	c, err := running.Running(name)
	if err != nil {
		return
	}
	err = logs.Rotate(n.engine.LogPath(c), n.cfg.LogSize, func() error { return n.engine.ReopenLog(c) })
	if err != nil {
		n.cfg.Log.Warn("cannot rotate log", "container", c.ID(), "error", err)
	}
}

// Purge kills and removes everything that a node left on this machine for a
// data directory, without a running process, except for the network, which has
// a Purge of its own.
func Purge(dataDir string) error {
	const patience = time.Minute
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return engine.Purge(ctx, dirOf(dataDir))
}
