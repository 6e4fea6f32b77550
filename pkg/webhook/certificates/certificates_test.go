// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestAuthorityIsKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	first, err := Open(dir, "127.0.0.1", "localhost")
	if err != nil {
		t.Fatal(err)
	}
	again, err := Open(dir, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	if string(first.CABundle()) != string(again.CABundle()) {
		t.Error("a restart must not change what clients were told")
	}
	info, err := os.Stat(filepath.Join(dir, CAKey))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key is for its owner only: %v, %v", info.Mode(), err)
	}
}

func TestServingCertificate(t *testing.T) {
	now := time.Now()
	d, err := open(t.TempDir(), func() time.Time { return now }, []string{"127.0.0.1", "webhook.ns.svc"})
	if err != nil {
		t.Fatal(err)
	}
	first, err := d.GetCertificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(d.CABundle())
	for _, host := range []string{"127.0.0.1", "webhook.ns.svc"} {
		if _, err := first.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: host, CurrentTime: now}); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	if same, _ := d.GetCertificate(nil); same != first {
		t.Error("a certificate that is good is kept")
	}
	now = now.Add(servingLifetime - renewBefore + time.Minute)
	if renewed, err := d.GetCertificate(nil); err != nil || renewed == first {
		t.Errorf("a certificate is renewed long before its end: %v", err)
	}
}

func TestOldAuthorityIsReplaced(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	clock := func() time.Time { return now }
	first, err := open(dir, clock, []string{"h"})
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(authorityLifetime)
	second, err := open(dir, clock, []string{"h"})
	if err != nil {
		t.Fatal(err)
	}
	if string(first.CABundle()) == string(second.CABundle()) {
		t.Error("an authority that ends soon is of no use")
	}
}

func TestErrors(t *testing.T) {
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("a certificate is for somebody")
	}
	dir := t.TempDir()
	if _, err := Open(dir, "h"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, CACert), []byte("junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, "h"); err == nil {
		t.Error("what somebody else put there is not overwritten")
	}
}
