// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package pki_test

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"

	"weir.dev/embedded/cluster/pki"
)

func TestIssueKeepsWhatFits(t *testing.T) {
	dir := t.TempDir()
	leaf := pki.Leaf{CommonName: "server", Organization: []string{"org"}, Names: []string{"localhost", "127.0.0.1"}, Server: true}
	first := issue(t, open(t, dir), leaf)

	cases := map[string]struct {
		reason string
		change func(*pki.Leaf)
		want   bool // the same certificate again
	}{
		"same":         {"a restart must not invalidate what clients hold", func(*pki.Leaf) {}, true},
		"other name":   {"a certificate must cover the names asked for", func(l *pki.Leaf) { l.Names = []string{"other"} }, false},
		"other ip":     {"addresses are compared too", func(l *pki.Leaf) { l.Names = []string{"localhost", "127.0.0.2"} }, false},
		"other common": {"the user name is part of it", func(l *pki.Leaf) { l.CommonName = "admin" }, false},
		"other group":  {"the groups are part of it", func(l *pki.Leaf) { l.Organization = nil }, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			changed := leaf
			tc.change(&changed)
			got := issue(t, open(t, dir), changed)
			if same := bytes.Equal(got.Cert, first.Cert); same != tc.want {
				t.Errorf("same certificate = %v, want %v: %s", same, tc.want, tc.reason)
			}
			first = issue(t, open(t, dir), leaf)
		})
	}
}

func TestIssuedVerifies(t *testing.T) {
	a := open(t, t.TempDir())
	pair := issue(t, a, pki.Leaf{CommonName: "s", Names: []string{"localhost"}, Server: true})
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(a.CA.Cert)
	block, _ := pem.Decode(pair.Cert)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cert.Verify(x509.VerifyOptions{DNSName: "localhost", Roots: roots}); err != nil {
		t.Error(err)
	}
	if _, err := cert.Verify(x509.VerifyOptions{DNSName: "elsewhere", Roots: roots}); err == nil {
		t.Error("verified for a name that was not asked for")
	}
}

func TestNewAuthorityReplacesLeaves(t *testing.T) {
	dir := t.TempDir()
	leaf := pki.Leaf{CommonName: "c"}
	first := issue(t, open(t, dir), leaf)
	for _, f := range []string{"ca.crt", "ca.key"} {
		if err := os.Remove(filepath.Join(dir, f)); err != nil {
			t.Fatal(err)
		}
	}
	if again := issue(t, open(t, dir), leaf); bytes.Equal(first.Cert, again.Cert) {
		t.Error("kept a certificate that the new authority never signed")
	}
}

func TestKeysAreSecret(t *testing.T) {
	dir := t.TempDir()
	issue(t, open(t, dir), pki.Leaf{CommonName: "c"})
	for _, f := range []string{"ca.key", "leaf.key"} {
		info, err := os.Stat(filepath.Join(dir, f))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", f, info.Mode())
		}
	}
}

func TestDamagedAuthorityIsAnError(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "ca.key"), []byte("junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := pki.Open(dir); err == nil {
		t.Error("opened an authority whose key is damaged; a silent new one would cut off every client")
	}
}

func open(t *testing.T, dir string) *pki.Authority {
	t.Helper()
	a, err := pki.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func issue(t *testing.T, a *pki.Authority, leaf pki.Leaf) pki.KeyPair {
	t.Helper()
	pair, err := a.Issue("leaf", leaf)
	if err != nil {
		t.Fatal(err)
	}
	return pair
}
