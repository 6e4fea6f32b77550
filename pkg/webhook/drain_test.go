// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	admissionv1 "k8s.io/api/admission/v1"

	"weir.dev/pkg/webhook"
	"weir.dev/pkg/webhook/certificates"
)

// pipes is a listener without a network, so that a test's time can stand still.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func newPipes() pipes { return pipes{make(chan net.Conn), make(chan struct{})} }

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error {
	close(p.closed)
	return nil
}

func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "unix"} }

func (p pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestGracefulStop(t *testing.T) { synctest.Test(t, testGracefulStop) }

func testGracefulStop(t *testing.T) {
	dir, err := certificates.Open(t.TempDir(), "webhook")
	if err != nil {
		t.Fatal(err)
	}
	release := make(chan struct{})
	slow := func(context.Context, *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		<-release
		return webhook.Allow()
	}
	const grace = 45 * time.Second
	server, err := webhook.NewServer(webhook.ServerConfig{
		TLS:         &tls.Config{GetCertificate: dir.GetCertificate},
		Controllers: []any{controller{"/slow", slow}, controller{"/fast", allow}},
		GracePeriod: grace,
	})
	if err != nil {
		t.Fatal(err)
	}
	listener := newPipes()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(dir.CABundle())
	client := &http.Client{Transport: &http.Transport{
		DialContext: listener.dial, DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "webhook"},
	}}
	ask := func(path, agent string) int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://webhook"+path, strings.NewReader(`{"request":{}}`))
		if err != nil {
			t.Error(err)
			return 0
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("User-Agent", agent)
		resp, err := client.Do(req)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return 0
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}

	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx, listener) }()
	if code := ask("/healthz", "kube-probe/1.34"); code != http.StatusOK {
		t.Errorf("a server that serves is ready: %d", code)
	}
	inHand := make(chan int, 1)
	go func() { inHand <- ask("/slow", "") }()
	synctest.Wait()

	stop()
	synctest.Wait()
	if code := ask("/healthz", "kube-probe/1.34"); code != http.StatusServiceUnavailable {
		t.Errorf("a server that is to stop is not ready: %d", code)
	}
	time.Sleep(grace - time.Second) // of the bubble: nobody waits
	if code := ask("/fast", ""); code != http.StatusOK {
		t.Errorf("who has not noticed yet is served: %d", code)
	}
	time.Sleep(10 * time.Second)
	synctest.Wait()
	select {
	case err := <-ended:
		t.Errorf("a request in hand must be answered first: %v", err)
	default:
	}
	close(release)
	if code := <-inHand; code != http.StatusOK {
		t.Errorf("the request in hand: %d", code)
	}
	if err := <-ended; err != nil {
		t.Errorf("stop: %v", err)
	}
}
