// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package surface_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	coder "github.com/coder/websocket"
	"k8s.io/apimachinery/pkg/util/wait"

	logtesting "weir.dev/pkg/logging/testing"
	"weir.dev/pkg/network"
	"weir.dev/pkg/network/handlers"
	"weir.dev/pkg/websocket"
)

func TestNames(t *testing.T) {
	domain := network.GetClusterDomainName()
	if got := network.GetServiceHostname("name", "ns"); domain == "" || got != "name.ns.svc."+domain {
		t.Errorf("the host is %s, the domain %s", got, domain)
	}
	if network.DefaultDrainTimeout != 45*time.Second {
		t.Errorf("a drain takes %v", network.DefaultDrainTimeout)
	}
}

// protocol answers with that of the request.
var protocol = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto) })

// TestTransports: a server and transports of both protocols.
func TestTransports(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := network.NewServer(l.Addr().String(), protocol)
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { server.Close() })
	secure := httptest.NewTLSServer(protocol)
	t.Cleanup(secure.Close)
	roots := x509.NewCertPool()
	roots.AddCert(secure.Certificate())
	trusting := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}

	tests := map[string]struct {
		transport http.RoundTripper
		url       string
		major     int
		want      string
	}{
		"Proxy":    {network.NewProxyAutoTransport(10, 10), "http://" + l.Addr().String(), 1, "HTTP/1.1"},
		"ProxyH2C": {network.NewProxyAutoTransport(10, 10), "http://" + l.Addr().String(), 2, "HTTP/2.0"},
		"Prober":   {network.NewProberTransport(), "http://" + l.Addr().String(), 1, "HTTP/1.1"},
		"TLS":      {network.NewProxyAutoTLSTransport(10, 10, trusting), secure.URL, 1, "HTTP/1.1"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, tc.url, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.ProtoMajor = tc.major
			resp, err := tc.transport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if body, err := io.ReadAll(resp.Body); err != nil || string(body) != tc.want {
				t.Errorf("the server saw %s, %v", body, err)
			}
		})
	}
}

func TestBackoffDialer(t *testing.T) {
	dial := network.NewBackoffDialer(wait.Backoff{Duration: time.Second, Factor: 1, Steps: 2})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := dial(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	l.Close()
	if _, err := dial(t.Context(), "tcp", l.Addr().String()); err == nil {
		t.Error("nobody listens there any more")
	}
}

func TestErrorHandler(t *testing.T) {
	w := httptest.NewRecorder()
	network.ErrorHandler(logtesting.TestLogger(t))(w, httptest.NewRequest(http.MethodGet, "/", nil), errors.New("broken"))
	if w.Code != http.StatusBadGateway || !strings.Contains(w.Body.String(), "broken") {
		t.Errorf("answered %d %s", w.Code, w.Body)
	}
}

// TestDrainer: health checks fail at once, requests are answered until none
// comes for the quiet period.
func TestDrainer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &handlers.Drainer{
			Inner:                 protocol,
			HealthCheck:           func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
			QuietPeriod:           time.Second,
			HealthCheckUAPrefixes: []string{"Prober/"},
		}
		ask := func(agent string) int {
			w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)
			r.Header.Set("User-Agent", agent)
			d.ServeHTTP(w, r)
			return w.Code
		}
		if got := ask("kube-probe/1.34"); got != http.StatusNoContent {
			t.Errorf("the kubelet gets %d", got)
		}
		for _, end := range []func(){func() {}, d.Reset} {
			begun, drained := time.Now(), make(chan struct{})
			go func() { defer close(drained); d.Drain() }()
			synctest.Wait()
			if probe, request := ask("Prober/1"), ask("curl/8"); probe != http.StatusServiceUnavailable || request != http.StatusOK {
				t.Errorf("while it drains a probe gets %d, a request %d", probe, request)
			}
			end()
			<-drained
			if took := time.Since(begun); took > time.Second {
				t.Errorf("it took %v", took)
			}
			d.Reset()
			if got := ask("Prober/1"); got != http.StatusNoContent {
				t.Errorf("after Reset a probe gets %d", got)
			}
		}
	})
}

// TestWebSocket: connections send, receive, and are made anew.
func TestWebSocket(t *testing.T) {
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := coder.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = conn.CloseNow() }()
		for {
			kind, message, err := conn.Read(r.Context())
			if err != nil || conn.Write(r.Context(), kind, message) != nil {
				return
			}
		}
	}))
	t.Cleanup(echo.Close)
	target, logger := "ws"+strings.TrimPrefix(echo.URL, "http"), logtesting.TestLogger(t)

	received := make(chan []byte)
	conn := websocket.NewDurableConnection(target, received, logger)
	await(t, "the connection stands", func() bool { return conn.Status() == nil })
	if err := conn.Send("text"); err != nil {
		t.Errorf("Send: %v", err)
	}
	if got := <-received; string(got) != `"text"` {
		t.Errorf("received %s, want it as it was sent", got)
	}
	sending := websocket.NewDurableSendingConnection(target, logger)
	await(t, "the connection stands", func() bool { return sending.SendRaw(websocket.BinaryMessage, []byte("raw")) == nil })
	guaranteed, err := websocket.NewDurableSendingConnectionGuaranteed(target, patience, logger)
	if err != nil {
		t.Fatalf("NewDurableSendingConnectionGuaranteed: %v", err)
	}
	if err := guaranteed.Status(); err != nil {
		t.Errorf("it stands when it is returned: %v", err)
	}
	for _, c := range []*websocket.ManagedConnection{conn, sending, guaranteed} {
		if err := c.Shutdown(); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
	}
	if _, err := websocket.NewDurableSendingConnectionGuaranteed("ws://127.0.0.1:1", time.Millisecond, logger); err == nil {
		t.Error("nobody listens there")
	}
}
