// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"slices"
	"time"
)

// material is all that a Secret holds.
type material struct {
	// bundle are the authorities that clients are told, that of key first.
	bundle []*x509.Certificate
	// ca issues serving certificates; nil if its key is not there.
	ca *authority
	// serving is what servers present; nil if there is none.
	serving *tls.Certificate
}

// keys are the Secret's keys of its parts.
type keys struct{ serverKey, serverCert, caCert, caKey string }

// parse reads what can be read: what cannot is replaced.
func (k keys) parse(data map[string][]byte) material {
	var m material
	m.bundle = parseBundle(data[k.caCert])
	if ca, err := parseAuthority(data[k.caCert], data[k.caKey]); err == nil {
		m.ca = ca
	}
	if serving, err := tls.X509KeyPair(data[k.serverCert], data[k.serverKey]); err == nil {
		m.serving = &serving
	}
	return m
}

// write returns the data of a Secret, with what else was in it.
func (k keys) write(m material, data map[string][]byte) (map[string][]byte, error) {
	caKey, err := keyPEM(m.ca.key)
	if err != nil {
		return nil, err
	}
	serverKey, err := keyPEM(m.serving.PrivateKey)
	if err != nil {
		return nil, err
	}
	out := make(map[string][]byte, len(data)+4)
	for name, value := range data {
		out[name] = value
	}
	out[k.caCert], out[k.caKey] = certificatePEM(m.bundle...), caKey
	out[k.serverCert], out[k.serverKey] = nil, serverKey
	for _, der := range m.serving.Certificate {
		block := pem.Block{Type: "CERTIFICATE", Bytes: der}
		out[k.serverCert] = append(out[k.serverCert], pem.EncodeToMemory(&block)...)
	}
	return out, nil
}

func parseBundle(data []byte) []*x509.Certificate {
	var certs []*x509.Certificate
	for {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil {
			return certs
		}
		if cert, err := x509.ParseCertificate(block.Bytes); err == nil {
			certs = append(certs, cert)
		}
	}
}

// renew does what is due of the package's scheme at a time, and returns whether
// anything was and when something is next. The first of hosts is what clients
// call; lifetime is that of an authority.
func (m *material) renew(hosts []string, now time.Time, lifetime time.Duration) (changed bool, next time.Time, err error) {
	before := len(m.bundle)
	m.bundle = slices.DeleteFunc(m.bundle, func(c *x509.Certificate) bool { return !now.Before(c.NotAfter) })
	changed = len(m.bundle) != before

	if m.ca == nil || !m.ca.lasts(now) {
		if m.ca, err = newAuthority(now, lifetime); err != nil {
			return false, time.Time{}, fmt.Errorf("make certification authority: %w", err)
		}
		m.bundle = append([]*x509.Certificate{m.ca.cert}, m.bundle...)
		changed = true
	}
	if !now.Before(m.issuing(hosts[0], now)) {
		if m.serving, err = m.ca.issue(hosts, now); err != nil {
			return false, time.Time{}, fmt.Errorf("issue serving certificate: %w", err)
		}
		changed = true
	}
	next = m.issuing(hosts[0], now)
	for _, c := range m.bundle {
		next = earlier(next, c.NotAfter)
	}
	return changed, earlier(next, m.ca.cert.NotAfter.Add(-replaceBefore)), nil
}

// issuing is when a serving certificate is to be issued: now if there is none
// that a client accepts, else when it is due and clients know the authority, but
// not after its end.
func (m *material) issuing(host string, now time.Time) time.Time {
	if m.serving == nil || !accepted(m.serving, m.bundle, host, now) {
		return now
	}
	at := due(m.serving.Leaf)
	if at.Before(m.ca.settled()) {
		at = m.ca.settled()
	}
	return earlier(at, m.serving.Leaf.NotAfter)
}

// accepted tells whether clients that trust the bundle accept a certificate.
func accepted(serving *tls.Certificate, bundle []*x509.Certificate, host string, now time.Time) bool {
	roots := x509.NewCertPool()
	for _, cert := range bundle {
		roots.AddCert(cert)
	}
	_, err := serving.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: host, CurrentTime: now})
	return err == nil
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
