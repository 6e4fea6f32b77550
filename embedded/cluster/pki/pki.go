// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package pki issues the certificates of one embedded cluster from a CA of its own, and keeps them in files. It knows nothing
// of who uses them.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"weir.dev/embedded/cluster/datadir"
)

const (
	caLifetime   = 20 * 365 * 24 * time.Hour
	leafLifetime = 2 * 365 * 24 * time.Hour
	// leafRenewal is what must be left of a certificate at start; a process may run that long without another look.
	leafRenewal = 365 * 24 * time.Hour
)

// KeyPair is a certificate and its key, both PEM, and where they lie.
type KeyPair struct {
	Cert, Key         []byte
	CertFile, KeyFile string
}

// TLS gives the pair in the form that crypto/tls takes.
func (k KeyPair) TLS() (tls.Certificate, error) { return tls.X509KeyPair(k.Cert, k.Key) }

// Authority is a certificate authority (ECDSA P-256) and the directory with all that it issued.
type Authority struct {
	dir string
	ca  *x509.Certificate
	key *ecdsa.PrivateKey

	// CA is the root certificate. Its key never leaves the directory.
	CA KeyPair
}

// Leaf describes a certificate to issue. Names are DNS names or IP addresses.
type Leaf struct {
	CommonName   string
	Organization []string
	Names        []string
	Server       bool
}

// Open loads the authority of a directory, or makes one there.
func Open(dir string) (*Authority, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create certificate directory: %w", err)
	}
	a := &Authority{dir: dir, CA: pairFiles(dir, "ca")}
	if err := a.CA.load(); errors.Is(err, fs.ErrNotExist) {
		if err := a.createCA(); err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, err
	}
	var err error
	if a.ca, a.key, err = a.CA.parse(); err != nil {
		return nil, fmt.Errorf("certificate authority in %s: %w", dir, err)
	}
	return a, nil
}

// Issue gives the certificate kept under this name, newly signed if there is none, or it is about to expire, or it names
// others than asked for.
func (a *Authority) Issue(name string, leaf Leaf) (KeyPair, error) {
	pair := pairFiles(a.dir, name)
	if err := pair.load(); err == nil {
		if cert, _, err := pair.parse(); err == nil && a.fits(cert, leaf) {
			return pair, nil
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return KeyPair{}, err
	}
	template, err := template(leaf.CommonName, leafLifetime)
	if err != nil {
		return KeyPair{}, err
	}
	template.Subject.Organization = leaf.Organization
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = leaf.usages()
	template.DNSNames, template.IPAddresses = splitNames(leaf.Names)
	return pair, pair.sign(template, a.ca, key, a.key)
}

func (l Leaf) usages() []x509.ExtKeyUsage {
	if l.Server {
		return []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	}
	return []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
}

func (a *Authority) fits(cert *x509.Certificate, leaf Leaf) bool {
	dns, ips := splitNames(leaf.Names)
	return time.Until(cert.NotAfter) > leafRenewal &&
		cert.CheckSignatureFrom(a.ca) == nil &&
		cert.Subject.CommonName == leaf.CommonName &&
		slices.Equal(cert.Subject.Organization, leaf.Organization) &&
		slices.Equal(cert.DNSNames, dns) &&
		slices.EqualFunc(cert.IPAddresses, ips, net.IP.Equal)
}

func (a *Authority) createCA() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template, err := template("weir", caLifetime)
	if err != nil {
		return err
	}
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	template.IsCA = true
	return a.CA.sign(template, template, key, key)
}

func template(commonName string, lifetime time.Duration) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: commonName},
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.Add(lifetime),
		BasicConstraintsValid: true,
	}, nil
}

func splitNames(names []string) (dns []string, ips []net.IP) {
	for _, n := range names {
		if ip := net.ParseIP(n); ip != nil {
			ips = append(ips, ip)
		} else {
			dns = append(dns, n)
		}
	}
	return dns, ips
}

func pairFiles(dir, name string) KeyPair {
	return KeyPair{CertFile: filepath.Join(dir, name+".crt"), KeyFile: filepath.Join(dir, name+".key")}
}

func (k *KeyPair) load() (err error) {
	if k.Cert, err = os.ReadFile(k.CertFile); err != nil {
		return err
	}
	k.Key, err = os.ReadFile(k.KeyFile)
	return err
}

func (k *KeyPair) parse() (*x509.Certificate, *ecdsa.PrivateKey, error) {
	pair, err := k.TLS()
	if err != nil {
		return nil, nil, err
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return nil, nil, fmt.Errorf("%s is no ECDSA key", k.KeyFile)
	}
	return pair.Leaf, key, nil
}

func (k *KeyPair) sign(template, parent *x509.Certificate, key, signer *ecdsa.PrivateKey) error {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return fmt.Errorf("sign certificate %q: %w", template.Subject.CommonName, err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	k.Cert = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	k.Key = pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})
	return errors.Join(datadir.WriteFile(k.KeyFile, k.Key, 0o600), datadir.WriteFile(k.CertFile, k.Cert, 0o644))
}
