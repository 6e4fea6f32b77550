// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package record keeps on disk what must survive a restart of our process: one
// file in each sandbox's directory. It goes with the sandbox.
package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Record is one pod on this node.
type Record struct {
	// Sandbox is the id of the pod's sandbox.
	Sandbox string
	// Pod is the pod as it was seen last, with the status as we know it.
	Pod *corev1.Pod
	// Containers has, by name, what the status does not say.
	Containers map[string]Container
}

// Container is what a pod's status does not say about a container.
type Container struct {
	// Attempt is the number of the newest run, from 0.
	Attempt int
	// Failed says that a run ended before; what ended with the machine or with us counts as none.
	Failed bool
	// Backoff is the pause before the next start after a failure.
	Backoff time.Duration
}

// Store keeps records below a directory of sandboxes.
type Store struct {
	// Dir gives the directory of a sandbox.
	Dir func(sandbox string) string
}

const fileName = "record.json"

// Save writes a record; a reader sees the old or the new one, never a part.
func (s Store) Save(r Record) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode record of sandbox %s: %w", r.Sandbox, err)
	}
	dir := s.Dir(r.Sandbox)
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return fmt.Errorf("save record of sandbox %s: %w", r.Sandbox, err)
	}
	// The pod may hold secrets in its variables.
	temporary := filepath.Join(dir, fileName+".tmp")
	if err := os.WriteFile(temporary, data, 0o600); err != nil {
		return fmt.Errorf("save record of sandbox %s: %w", r.Sandbox, err)
	}
	if err := os.Rename(temporary, filepath.Join(dir, fileName)); err != nil {
		return fmt.Errorf("save record of sandbox %s: %w", r.Sandbox, err)
	}
	return nil
}

// ErrNone says that a sandbox has no record that can be used.
var ErrNone = errors.New("no record")

// Load reads the record of a sandbox.
func (s Store) Load(sandbox string) (Record, error) {
	data, err := os.ReadFile(filepath.Join(s.Dir(sandbox), fileName))
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, ErrNone
	}
	if err != nil {
		return Record{}, fmt.Errorf("load record of sandbox %s: %w", sandbox, err)
	}
	var r Record
	if err := json.Unmarshal(data, &r); err != nil {
		return Record{}, fmt.Errorf("record of sandbox %s: %w: %w", sandbox, ErrNone, err)
	}
	if r.Pod == nil || r.Sandbox != sandbox {
		return Record{}, fmt.Errorf("record of sandbox %s is incomplete: %w", sandbox, ErrNone)
	}
	return r, nil
}
