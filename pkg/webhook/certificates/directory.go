// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Names of the files in a Directory.
const (
	// CACert is the authority's certificate.
	CACert = "ca-cert.pem"
	// CAKey is the authority's key.
	CAKey = "ca-key.pem"
)

// Directory is an authority in a directory. The authority is kept, so that a
// client that was told it once goes on trusting the server after a restart;
// serving certificates are issued anew and not kept.
type Directory struct {
	ca    *x509.Certificate
	caKey *ecdsa.PrivateKey
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
	ca, key, err := load(dir)
	switch {
	case err == nil && now().Before(ca.NotAfter.Add(-renewBefore)):
	case err == nil || errors.Is(err, fs.ErrNotExist):
		if ca, key, err = create(dir, now()); err != nil {
			return nil, fmt.Errorf("make certification authority in %s: %w", dir, err)
		}
	default:
		return nil, fmt.Errorf("read certification authority in %s: %w", dir, err)
	}
	return &Directory{ca: ca, caKey: key, hosts: hosts, now: now}, nil
}

// CABundle is the authority, PEM, as clients are to be told.
func (d *Directory) CABundle() []byte { return certificatePEM(d.ca) }

// GetCertificate returns a serving certificate that is good for a while yet,
// for tls.Config.
func (d *Directory) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.serving != nil && d.now().Before(d.serving.Leaf.NotAfter.Add(-renewBefore)) {
		return d.serving, nil
	}
	serving, err := issue(d.ca, d.caKey, d.hosts, d.now())
	if err != nil {
		return nil, fmt.Errorf("issue serving certificate: %w", err)
	}
	d.serving = serving
	return serving, nil
}

func create(dir string, now time.Time) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	ca, key, err := newAuthority(now)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, fmt.Errorf("marshal key: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, err
	}
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	if err := writeFile(filepath.Join(dir, CAKey), keyPEM, 0o600); err != nil {
		return nil, nil, err
	}
	return ca, key, writeFile(filepath.Join(dir, CACert), certificatePEM(ca), 0o644)
}

// writeFile replaces a file as a whole. The certificate is written after its
// key: without it the authority does not exist.
func writeFile(path string, data []byte, mode fs.FileMode) error {
	if err := os.WriteFile(path+".new", data, mode); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func load(dir string) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	certPEM, err := os.ReadFile(filepath.Join(dir, CACert))
	if err != nil {
		return nil, nil, err
	}
	keyPEM, err := os.ReadFile(filepath.Join(dir, CAKey))
	if err != nil {
		return nil, nil, err
	}
	pair, err := tls.X509KeyPair(certPEM, keyPEM) // also checks that they belong together
	if err != nil {
		return nil, nil, err
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return nil, nil, fmt.Errorf("the key is a %T, not ECDSA", pair.PrivateKey)
	}
	return pair.Leaf, key, nil
}
