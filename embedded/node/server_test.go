// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	utilexec "k8s.io/client-go/util/exec"

	"weir.dev/embedded/node/nodetest"
)

// authority is a certificate authority for one test.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{}
	der, key := a.sign(t, &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	a.cert, a.key = cert, key
	return a
}

func (a *authority) sign(t *testing.T, template *x509.Certificate) ([]byte, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	return der, key
}

// pair makes a certificate in PEM for server or client.
func (a *authority) pair(t *testing.T, name string) (cert, key []byte) {
	t.Helper()
	der, private := a.sign(t, &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}})
	encoded, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: encoded})
}

// kubelet makes the node serve, and returns how clients of a name reach it.
func kubelet(t *testing.T) (serve func(*Config), client func(name string) *rest.Config) {
	t.Helper()
	ca := newAuthority(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	certPEM, keyPEM := ca.pair(t, "node")
	cert, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(ca.cert)
	serve = func(c *Config) {
		c.Kubelet = listener
		c.KubeletTLS = &tls.Config{Certificates: []tls.Certificate{cert}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert}
		c.KubeletClients = []string{"apiserver"}
	}
	client = func(name string) *rest.Config {
		certPEM, keyPEM := ca.pair(t, name)
		caPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.cert.Raw})
		return &rest.Config{Host: "https://" + listener.Addr().String(), TLSClientConfig: rest.TLSClientConfig{CAData: caPEM, CertData: certPEM, KeyData: keyPEM}}
	}
	return serve, client
}

func TestLogsAndCommandsOverTLS(t *testing.T) {
	w := newWorld(t)
	serve, client := kubelet(t)
	n, _ := w.start(t, serve)
	if n.kubeletPort() == 0 {
		t.Error("the node's port is not known")
	}
	w.pod(t, "web", corev1.RestartPolicyAlways, corev1.Container{Args: []string{"wait"}})
	w.await(t, "web", phase(corev1.PodRunning))
	config := client("apiserver")

	call := func(tty bool, stdin string, command ...string) (string, error) {
		query := url.Values{"command": command, "output": {"1"}}
		options := remotecommand.StreamOptions{Tty: tty}
		if stdin != "" {
			query.Set("input", "1")
			options.Stdin = strings.NewReader(stdin)
		}
		if tty {
			query.Set("tty", "1")
		}
		target, err := url.Parse(config.Host + "/exec/default/web/main?" + query.Encode())
		if err != nil {
			t.Fatal(err)
		}
		executor, err := remotecommand.NewSPDYExecutor(config, http.MethodPost, target)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		options.Stdout = &out
		err = executor.StreamWithContext(t.Context(), options)
		return out.String(), err
	}
	run := func(tty bool, stdin string, command ...string) (string, error) {
		return call(tty, stdin, append([]string{nodetest.Program}, command...)...)
	}
	if out, err := run(false, "typed ", "stdin"); err != nil || out != "typed stdin ended after 6\n" {
		t.Errorf("with input: %q, %v", out, err)
	}
	if out, err := run(true, "", "id"); err != nil || out != "0 0 [0]\r\n" {
		t.Errorf("in a terminal: %q, %v", out, err)
	}
	var exit utilexec.CodeExitError
	if _, err := run(false, "", "exit", "5"); !errors.As(err, &exit) || exit.Code != 5 {
		t.Errorf("failing command: %v", err)
	}
	for _, tty := range []bool{false, true} {
		if _, err := call(tty, "", "nothing"); !errors.As(err, &exit) || exit.Code != 127 {
			t.Errorf("missing command: %v, want the code 127", err)
		}
	}

	get := func(config *rest.Config, path string) (int, string) {
		transport, err := rest.HTTPClientFor(config)
		if err != nil {
			t.Fatal(err)
		}
		response, err := transport.Get(config.Host + path)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(body)
	}
	if code, body := get(config, "/containerLogs/default/web/main?timestamps=false"); code != http.StatusOK || body != "waiting\n" {
		t.Errorf("log: %d %q", code, body)
	}
	silent := func() (int, error) { // of what was printed it wants nothing, and nothing more will be
		transport, err := rest.HTTPClientFor(config)
		if err != nil {
			return 0, err
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+"/containerLogs/default/web/main?follow=true&tailLines=0", nil)
		if err != nil {
			return 0, err
		}
		response, err := transport.Do(request)
		if err != nil {
			return 0, err
		}
		return response.StatusCode, response.Body.Close()
	}
	if code, err := silent(); code != http.StatusOK {
		t.Errorf("following a silent log: %d, %v", code, err)
	}
	for path, want := range map[string]int{
		"/containerLogs/default/web/main?tailLines=x":    http.StatusBadRequest,
		"/containerLogs/default/web/main?previous=true":  http.StatusBadRequest,
		"/containerLogs/default/web/other":               http.StatusBadRequest,
		"/containerLogs/default/nobody/main":             http.StatusNotFound,
		"/containerLogs/default/web/main?sinceSeconds=0": http.StatusBadRequest,
	} {
		if code, body := get(config, path); code != want {
			t.Errorf("%s: %d %q, want %d", path, code, body, want)
		}
	}
	if code, _ := get(client("somebody"), "/containerLogs/default/web/main"); code != http.StatusForbidden {
		t.Errorf("somebody else's certificate: %d", code)
	}
}

func TestServingNeedsCertificates(t *testing.T) {
	serve, _ := kubelet(t)
	cfg := Config{Name: "node", DataDir: t.TempDir()}
	serve(&cfg)
	cfg.KubeletTLS.ClientAuth = tls.NoClientCert
	if _, err := cfg.withDefaults(); err == nil {
		t.Error("serving to anybody was accepted")
	}
}
