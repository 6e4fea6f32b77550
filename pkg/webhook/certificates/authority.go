// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package certificates

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
	"math/big"
	"net"
	"time"
)

const (
	authorityLifetime = 10 * 365 * 24 * time.Hour
	servingLifetime   = 7 * 24 * time.Hour
	// renewBefore is when a serving certificate is renewed.
	renewBefore = 24 * time.Hour
	// replaceBefore is when an authority is replaced. It leaves time for what it
	// has issued, and to notice that replacing fails.
	replaceBefore = 30 * 24 * time.Hour
	// settle is how long clients have to hear of an authority before it issues
	// anything. It is over well before what was presented until then ends.
	settle = renewBefore / 2
	// skew is how far clocks may be apart.
	skew = time.Hour
)

// authority is a certification authority.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(now time.Time, lifetime time.Duration) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("generate key: %w", err)
	}
	template := x509.Certificate{
		Subject:               pkix.Name{CommonName: "weir webhook CA"},
		NotBefore:             now.Add(-skew),
		NotAfter:              now.Add(lifetime),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	cert, err := sign(&template, &template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	return &authority{cert: cert, key: key}, nil
}

// parseAuthority reads an authority, whose certificate is the first of PEM ones.
func parseAuthority(certPEM, keyPEM []byte) (*authority, error) {
	pair, err := tls.X509KeyPair(certPEM, keyPEM) // also checks that they belong together
	if err != nil {
		return nil, err
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("the key is a %T, not ECDSA", pair.PrivateKey)
	}
	if !pair.Leaf.IsCA {
		return nil, errors.New("the certificate is not of an authority")
	}
	return &authority{cert: pair.Leaf, key: key}, nil
}

// lasts tells whether the authority may issue certificates for a while yet.
func (a *authority) lasts(now time.Time) bool { return now.Before(a.cert.NotAfter.Add(-replaceBefore)) }

// settled is when all clients have heard of the authority.
func (a *authority) settled() time.Time { return a.cert.NotBefore.Add(skew + settle) }

// issue returns a serving certificate for host names and addresses.
func (a *authority) issue(hosts []string, now time.Time) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("generate key: %w", err)
	}
	template := x509.Certificate{
		Subject:     pkix.Name{CommonName: hosts[0]},
		NotBefore:   now.Add(-skew),
		NotAfter:    now.Add(servingLifetime),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	leaf, err := sign(&template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key, Leaf: leaf}, nil
}

func sign(template, parent *x509.Certificate, pub *ecdsa.PublicKey, key *ecdsa.PrivateKey) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("draw serial number: %w", err)
	}
	template.SerialNumber = serial
	der, err := x509.CreateCertificate(rand.Reader, template, parent, pub, key)
	if err != nil {
		return nil, fmt.Errorf("sign certificate: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("parse certificate: %w", err)
	}
	return cert, nil
}

// due is when a serving certificate is renewed.
func due(serving *x509.Certificate) time.Time { return serving.NotAfter.Add(-renewBefore) }

func certificatePEM(certs ...*x509.Certificate) []byte {
	var out []byte
	for _, cert := range certs {
		out = append(out, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw})...)
	}
	return out
}

func keyPEM(key any) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("marshal key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}
