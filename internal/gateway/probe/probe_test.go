// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestProbe(t *testing.T) {
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		code, _ := strconv.Atoi(r.URL.Path[1:])
		if code == 0 {
			<-r.Context().Done()
			return
		}
		w.Header().Set("Location", "http://nowhere.invalid/")
		if r.Host == "asked.test" && r.Header.Get("X-Probe") == "yes" {
			code = 200
		}
		w.WriteHeader(code)
	})
	plain, secure := httptest.NewServer(h), httptest.NewTLSServer(h)
	defer plain.Close()
	defer secure.Close()
	address := plain.Listener.Addr().String()
	port := secure.Listener.Addr().(*net.TCPAddr).Port
	closed := refusing(t)
	tests := map[string]struct {
		reason  string
		address string
		spec    Spec
		ok      bool
	}{
		"TCP":          {"", address, Spec{Kind: TCP}, true},
		"TCPRefused":   {"", closed, Spec{Kind: TCP}, false},
		"TCPOtherPort": {"a probe may name another port", closed, Spec{Kind: TCP, Port: port}, true},
		"PodReady":     {"after a refusal a connection is all that can be asked", address, Spec{Kind: PodReady}, true},
		"200":          {"", address, Spec{Kind: HTTP, Path: "/200"}, true},
		"NoSlash":      {"", address, Spec{Kind: HTTP, Path: "204"}, true},
		"399":          {"the last good status", address, Spec{Kind: HTTP, Path: "/399"}, true},
		"302":          {"a redirection is an answer and not followed", address, Spec{Kind: HTTP, Path: "/302"}, true},
		"400":          {"", address, Spec{Kind: HTTP, Path: "/400"}, false},
		"503":          {"", address, Spec{Kind: HTTP, Path: "/503"}, false},
		"Refused":      {"", closed, Spec{Kind: HTTP, Path: "/200"}, false},
		"Slow":         {"", address, Spec{Kind: HTTP, Path: "/0", Timeout: 50 * time.Millisecond}, false},
		"HTTPS":        {"certificates are not checked", closed, Spec{Kind: HTTP, HTTPS: true, Port: port, Path: "/200"}, true},
		"Headers":      {"", address, Spec{Kind: HTTP, Path: "/500", Headers: map[string]string{"host": "asked.test", "X-Probe": "yes"}}, true},
		"BadAddress":   {"", "nonsense", Spec{Kind: TCP, Port: 80}, false},
	}
	p := New(nil)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if err := p.Probe(t.Context(), test.address, test.spec); (err == nil) != test.ok {
				t.Errorf("%v: %s", err, test.reason)
			}
		})
	}
}

func TestGRPCHealth(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, h := grpc.NewServer(), health.NewServer()
	h.SetServingStatus("down", grpc_health_v1.HealthCheckResponse_NOT_SERVING)
	grpc_health_v1.RegisterHealthServer(s, h)
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(l) }()
	defer func() { s.Stop(); <-done }()
	p := New(nil)
	for service, want := range map[string]bool{"": true, "down": false, "unknown": false} {
		if err := p.Probe(t.Context(), l.Addr().String(), Spec{Kind: GRPC, Service: service}); (err == nil) != want {
			t.Errorf("%q: %v", service, err)
		}
	}
	began := time.Now()
	if err := p.Probe(t.Context(), refusing(t), Spec{Kind: GRPC, Timeout: 10 * time.Second}); err == nil || time.Since(began) > 5*time.Second {
		t.Errorf("a refused connection is not told at once: %v after %v", err, time.Since(began))
	}
}

// refusing returns an address where nobody listens.
func refusing(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
