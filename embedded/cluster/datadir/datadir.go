// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package datadir keeps the small files of an embedded cluster: the format version of its directory and the port of its API
// server.
package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// formatVersion is raised when an older Weir could not use the directory any more.
const formatVersion = 1

// ErrNewerFormat is returned for a data directory that a newer Weir has written.
var ErrNewerFormat = errors.New("data directory has a newer format than this weir knows")

// Prepare creates the directory, or checks that this Weir can use what is there.
func Prepare(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("create data directory: %w", err)
	}
	file := filepath.Join(dir, "format")
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return WriteFile(file, []byte(strconv.Itoa(formatVersion)+"\n"), 0o600)
	}
	if err != nil {
		return fmt.Errorf("read format of data directory: %w", err)
	}
	v, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return fmt.Errorf("%s is damaged: %w", file, err)
	}
	if v > formatVersion {
		return fmt.Errorf("%s: %w (%d, known up to %d)", dir, ErrNewerFormat, v, formatVersion)
	}
	return nil
}

// ListenAPI binds the port that kubeconfigs of this directory already name, else 6443, else any free one.
func ListenAPI(dir string) (net.Listener, error) {
	file := filepath.Join(dir, "api-port")
	ports := []string{"6443", "0"}
	if raw, err := os.ReadFile(file); err == nil {
		ports = append([]string{strings.TrimSpace(string(raw))}, ports...)
	}
	var errs error
	for _, port := range ports {
		ln, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", port))
		if err != nil {
			errs = errors.Join(errs, err)
			continue
		}
		bound := strconv.Itoa(ln.Addr().(*net.TCPAddr).Port)
		if err := WriteFile(file, []byte(bound+"\n"), 0o600); err != nil {
			ln.Close()
			return nil, err
		}
		return ln, nil
	}
	return nil, fmt.Errorf("find a port for the API server: %w", errs)
}

// WriteFile replaces a file as a whole, so that a crash leaves the old one or the new one.
func WriteFile(name string, data []byte, mode fs.FileMode) error {
	tmp, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Chmod(mode), tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
