// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// dataLink points to the directory with the current files. Programs that watch
// projected volumes know this name from Kubernetes.
const dataLink = "..data"

// writeAtomically makes dir show exactly the files. A reader sees either all old
// or all new ones: the files lie in a directory that is swapped by renaming a
// link, and dir itself holds links into it. Unchanged files are not touched.
func writeAtomically(dir string, files map[string]file, group *int64, now time.Time) error {
	for path := range files {
		if !filepath.IsLocal(path) || strings.HasPrefix(path, "..") {
			return fmt.Errorf("file %q would lie outside of the volume", path)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	if err := unix.Chmod(dir, 0o755); err != nil {
		return fmt.Errorf("set mode: %w", err)
	}
	old, _ := os.Readlink(filepath.Join(dir, dataLink))
	if old != "" && same(filepath.Join(dir, old), files) {
		return nil
	}
	fresh, err := os.MkdirTemp(dir, now.UTC().Format("..2006_01_02_15_04_05."))
	if err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	if err := fill(fresh, files, group); err != nil {
		return errors.Join(err, os.RemoveAll(fresh))
	}
	if err := swap(dir, filepath.Base(fresh)); err != nil {
		return errors.Join(err, os.RemoveAll(fresh))
	}
	if err := link(dir, files); err != nil {
		return err
	}
	if old != "" {
		return os.RemoveAll(filepath.Join(dir, old))
	}
	return nil
}

func fill(dir string, files map[string]file, group *int64) error {
	if err := unix.Chmod(dir, 0o755); err != nil {
		return fmt.Errorf("set mode: %w", err)
	}
	for path, f := range files {
		full := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			return fmt.Errorf("make directory: %w", err)
		}
		if err := os.WriteFile(full, f.data, 0o600); err != nil {
			return fmt.Errorf("write file: %w", err)
		}
		owner, gid, mode := -1, -1, uint32(f.mode)&0o777
		if f.owner != nil {
			owner = int(*f.owner)
		}
		if group != nil {
			gid = int(*group)
			mode |= 0o040
		}
		if err := os.Chown(full, owner, gid); err != nil {
			return fmt.Errorf("set owner: %w", err)
		}
		if err := unix.Chmod(full, mode); err != nil {
			return fmt.Errorf("set mode: %w", err)
		}
	}
	return nil
}

func swap(dir, target string) error {
	temporary := filepath.Join(dir, dataLink+"_tmp")
	if err := os.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("swap files: %w", err)
	}
	if err := os.Symlink(target, temporary); err != nil {
		return fmt.Errorf("swap files: %w", err)
	}
	if err := os.Rename(temporary, filepath.Join(dir, dataLink)); err != nil {
		return fmt.Errorf("swap files: %w", err)
	}
	return nil
}

// link makes the visible names: one link for each first path element.
func link(dir string, files map[string]file) error {
	var names []string
	for path := range files {
		name, _, _ := strings.Cut(path, "/")
		names = append(names, name)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, name := range names {
		err := os.Symlink(filepath.Join(dataLink, name), filepath.Join(dir, name))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("show file: %w", err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("list files: %w", err)
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), "..") || slices.Contains(names, entry.Name()) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, entry.Name())); err != nil {
			return fmt.Errorf("remove file: %w", err)
		}
	}
	return nil
}

// same says whether the files in dir are those wanted, by content.
func same(dir string, files map[string]file) bool {
	found := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		relative, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if want, ok := files[relative]; ok && bytes.Equal(data, want.data) {
			found++
			return nil
		}
		return errDifferent
	})
	return err == nil && found == len(files)
}

var errDifferent = errors.New("content differs")
