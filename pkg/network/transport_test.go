// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package network_test

import (
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"weir.dev/pkg/network"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// peer is a server on loopback that counts its connections.
type peer struct {
	url         string
	connections atomic.Int32
}

// serve runs the server of a handler until the test ends, with TLS if there is
// a configuration.
func serve(t *testing.T, h http.Handler, config *tls.Config) *peer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("Listen: %v", err)
	}
	p := &peer{url: "http://" + l.Addr().String()}
	server := network.NewServer("", h)
	server.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			p.connections.Add(1)
		}
	}
	run := func() error { return server.Serve(l) }
	if config != nil {
		server.TLSConfig, p.url = config, "https://"+l.Addr().String()
		run = func() error { return server.ServeTLS(l, "", "") }
	}
	ended := make(chan error, 1)
	go func() { ended <- run() }()
	t.Cleanup(func() { server.Close(); <-ended })
	return p
}

// send makes a request of a protocol and returns the response's body and trailer.
func send(t *testing.T, rt http.RoundTripper, target string, major int, body string) (string, http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, target, strings.NewReader(body))
	if err != nil {
		t.Fatalf("NewRequest: %v", err)
	}
	r.ProtoMajor = major
	resp, err := rt.RoundTrip(r)
	if err != nil {
		t.Fatalf("RoundTrip with HTTP/%d: %v", major, err)
	}
	defer resp.Body.Close()
	read, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("reading the response: %v", err)
	}
	return string(read), resp.Trailer
}

func closeIdle(t *testing.T, rt http.RoundTripper) {
	t.Cleanup((&http.Client{Transport: rt}).CloseIdleConnections)
}

// describe answers with what it saw of the request.
var describe = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Trailer", "Sum")
	_, _ = fmt.Fprintf(w, "%s tls=%t %s", r.Proto, r.TLS != nil, body)
	w.Header().Set("Sum", fmt.Sprint(len(body)))
})

// trust returns the configurations of a server and of a client that trusts it.
func trust(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	defer s.Close()
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return &tls.Config{Certificates: s.TLS.Certificates, MinVersion: tls.VersionTLS13},
		&tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13}
}

// TestProtocols sends two requests of each protocol with each transport.
func TestProtocols(t *testing.T) {
	ofServer, ofClient := trust(t)
	tests := map[string]struct {
		reason      string
		transport   http.RoundTripper
		server      *tls.Config
		major       int
		want        string
		connections int32
	}{
		"Auto1":      {"kept for the next request", network.NewAutoTransport(10, 10), nil, 1, "HTTP/1.1 tls=false", 1},
		"Auto2":      {"prior knowledge, one connection", network.NewAutoTransport(10, 10), nil, 2, "HTTP/2.0 tls=false", 1},
		"ProxyAuto1": {"the client's protocol", network.NewProxyAutoTransport(10, 10), nil, 1, "HTTP/1.1 tls=false", 1},
		"ProxyAuto2": {"the client's protocol", network.NewProxyAutoTransport(10, 10), nil, 2, "HTTP/2.0 tls=false", 1},
		"TLS1":       {"not what negotiation likes best", network.NewProxyAutoTLSTransport(10, 10, ofClient), ofServer, 1, "HTTP/1.1 tls=true", 1},
		"TLS2":       {"negotiated", network.NewProxyAutoTLSTransport(10, 10, ofClient), ofServer, 2, "HTTP/2.0 tls=true", 1},
		"Prober1":    {"a probe proves a new connection", network.NewProberTransport(), nil, 1, "HTTP/1.1 tls=false", 2},
		"Prober2":    {"also of HTTP/2", network.NewProberTransport(), nil, 2, "HTTP/2.0 tls=false", 2},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := serve(t, describe, tc.server)
			closeIdle(t, tc.transport)
			for _, body := range []string{"one", "three"} {
				got, trailer := send(t, tc.transport, p.url, tc.major, body)
				if want := tc.want + " " + body; got != want {
					t.Errorf("%s: got %q, want %q", tc.reason, got, want)
				}
				if got := trailer.Get("Sum"); got != fmt.Sprint(len(body)) {
					t.Errorf("the trailer is %q", got)
				}
			}
			if got := p.connections.Load(); got != tc.connections {
				t.Errorf("%s: %d connections, want %d", tc.reason, got, tc.connections)
			}
		})
	}
}

func TestUntrusted(t *testing.T) {
	ofServer, _ := trust(t)
	p := serve(t, describe, ofServer)
	for _, major := range []int{1, 2} {
		rt := network.NewProxyAutoTLSTransport(1, 1, &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS13})
		r := httptest.NewRequest(http.MethodGet, p.url, nil)
		r.ProtoMajor = major
		if resp, err := rt.RoundTrip(r); err == nil {
			resp.Body.Close()
			t.Errorf("HTTP/%d reached a peer that nobody vouches for", major)
		}
	}
}

// TestCompression: a proxy asks for no compression of its own and hands on what
// is compressed; others get the text.
func TestCompression(t *testing.T) {
	compress := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") != "gzip" {
			_, _ = w.Write([]byte("plain"))
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = z.Write([]byte("compressed"))
		z.Close()
	})
	p := serve(t, compress, nil)
	tests := map[string]struct {
		reason    string
		transport http.RoundTripper
		want      string
	}{
		"Auto":      {"the transport asks for it and undoes it", network.NewAutoTransport(1, 1), "compressed"},
		"ProxyAuto": {"the client did not ask", network.NewProxyAutoTransport(1, 1), "plain"},
	}
	for name, tc := range tests {
		closeIdle(t, tc.transport)
		for _, major := range []int{1, 2} {
			if got, _ := send(t, tc.transport, p.url, major, ""); got != tc.want {
				t.Errorf("%s, HTTP/%d: %s: got %q, want %q", name, major, tc.reason, got, tc.want)
			}
		}
	}
}
