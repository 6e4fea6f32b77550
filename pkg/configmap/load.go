// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package configmap

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Load reads a directory that a ConfigMap is mounted at into a map from key to
// value. Names that start with two dots are the kubelet's own and are skipped.
func Load(dir string) (map[string]string, error) {
	data := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == dir:
			return nil
		case strings.HasPrefix(entry.Name(), ".."):
			return skip(entry)
		}
		return loadFile(dir, path, data)
	})
	if err != nil {
		return nil, fmt.Errorf("loading the ConfigMap mounted at %s: %w", dir, err)
	}
	return data, nil
}

func skip(entry fs.DirEntry) error {
	if entry.IsDir() {
		return fs.SkipDir
	}
	return nil
}

func loadFile(dir, path string, data map[string]string) error {
	// Stat, not the entry: keys of a mounted ConfigMap are symbolic links.
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return err
	}
	key, err := filepath.Rel(dir, path)
	if err != nil {
		return err
	}
	value, err := os.ReadFile(path)
	data[key] = string(value)
	return err
}
