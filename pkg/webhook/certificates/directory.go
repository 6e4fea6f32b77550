// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Names of the files in a Directory, and of the keys in a Secret.
const (
	// CACert is the authority's certificate, in a Secret with those before it.
	CACert = "ca-cert.pem"
	// CAKey is the authority's key.
	CAKey = "ca-key.pem"
)

// Directory is an authority in a directory. The authority is kept, so that a
// client that was told it once goes on trusting the server after a restart;
// serving certificates are issued anew and not kept.
type Directory struct {
	ca    *authority
	hosts []string
	now   func() time.Time

	mu      sync.Mutex
	serving *tls.Certificate
}

// Open reads the authority in dir, or makes one there. It will serve for the
// given host names and addresses.
func Open(dir string, hosts ...string) (*Directory, error) {
	return open(dir, time.Now, hosts)
}

func open(dir string, now func() time.Time, hosts []string) (*Directory, error) {
	if len(hosts) == 0 {
		return nil, errors.New("certificates: no host")
	}
	ca, err := load(dir)
	switch {
	case err == nil && ca.lasts(now()):
	case err == nil || errors.Is(err, fs.ErrNotExist):
		if ca, err = create(dir, now()); err != nil {
			return nil, fmt.Errorf("make certification authority in %s: %w", dir, err)
		}
	default:
		return nil, fmt.Errorf("read certification authority in %s: %w", dir, err)
	}
	return &Directory{ca: ca, hosts: hosts, now: now}, nil
}

// CABundle is the authority, PEM, as clients are to be told.
func (d *Directory) CABundle() []byte { return certificatePEM(d.ca.cert) }

// GetCertificate returns a serving certificate that is good for a while yet,
// for tls.Config.
func (d *Directory) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.serving != nil && d.now().Before(due(d.serving.Leaf)) {
		return d.serving, nil
	}
	serving, err := d.ca.issue(d.hosts, d.now())
	if err != nil {
		return nil, fmt.Errorf("issue serving certificate: %w", err)
	}
	d.serving = serving
	return serving, nil
}

func create(dir string, now time.Time) (*authority, error) {
	ca, err := newAuthority(now, authorityLifetime)
	if err != nil {
		return nil, err
	}
	key, err := keyPEM(ca.key)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := writeFile(filepath.Join(dir, CAKey), key, 0o600); err != nil {
		return nil, err
	}
	return ca, writeFile(filepath.Join(dir, CACert), certificatePEM(ca.cert), 0o644)
}

// writeFile replaces a file as a whole. The certificate is written after its
// key: without it the authority does not exist.
func writeFile(path string, data []byte, mode fs.FileMode) error {
	if err := os.WriteFile(path+".new", data, mode); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func load(dir string) (*authority, error) {
	cert, err := os.ReadFile(filepath.Join(dir, CACert))
	if err != nil {
		return nil, err
	}
	key, err := os.ReadFile(filepath.Join(dir, CAKey))
	if err != nil {
		return nil, err
	}
	return parseAuthority(cert, key)
}
