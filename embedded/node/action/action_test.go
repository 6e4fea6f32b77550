// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/ok", func(w http.ResponseWriter, r *http.Request) {
		if r.Host != "asked" || r.Header.Get("X-A") != "1" || !strings.HasPrefix(r.UserAgent(), "kube-") || r.URL.RawQuery != "q=1" {
			w.WriteHeader(http.StatusTeapot)
		}
	})
	mux.HandleFunc("/bad", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/bad", http.StatusFound) })
	mux.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://other.invalid/", http.StatusFound)
	})
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	return mux
}

func target(t *testing.T, address string) (Target, intstr.IntOrString) {
	t.Helper()
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return Target{
		IP:        at.Addr(),
		Container: &corev1.Container{Ports: []corev1.ContainerPort{{Name: "web", ContainerPort: int32(at.Port())}}},
	}, intstr.FromInt32(int32(at.Port()))
}

func TestHTTP(t *testing.T) {
	plain := httptest.NewServer(handler())
	defer plain.Close()
	secure := httptest.NewTLSServer(handler())
	defer secure.Close()
	headers := []corev1.HTTPHeader{{Name: "host", Value: "asked"}, {Name: "X-A", Value: "1"}}
	cases := map[string]struct {
		reason string
		path   string
		secure bool
		named  bool
		want   string
	}{
		"success":       {"2xx, with headers, host and query", "/ok?q=1", false, false, ""},
		"named port":    {"ports have names", "/ok?q=1", false, true, ""},
		"https":         {"certificates are not verified", "ok?q=1", true, false, ""},
		"failure":       {"the code is in the message", "/bad", false, false, "statuscode: 500"},
		"redirect":      {"followed on the same host", "/moved", false, false, "statuscode: 500"},
		"redirect away": {"an answer by itself", "/away", false, false, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			server, scheme := plain, corev1.URISchemeHTTP
			if c.secure {
				server, scheme = secure, corev1.URISchemeHTTPS
			}
			on, port := target(t, server.Listener.Addr().String())
			if c.named {
				port = intstr.FromString("web")
			}
			err := on.Probe(t.Context(), corev1.ProbeHandler{
				HTTPGet: &corev1.HTTPGetAction{Path: c.path, Port: port, Scheme: scheme, HTTPHeaders: headers},
			})
			if got := text(err); c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("%s: %v, want %q", c.reason, err, c.want)
			}
		})
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestHookWithHostOfItsOwn(t *testing.T) {
	server := httptest.NewServer(handler())
	defer server.Close()
	on, port := target(t, server.Listener.Addr().String())
	host := on.IP.String()
	on.IP = netip.MustParseAddr("192.0.2.1")
	if err := on.Hook(t.Context(), corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{Host: host, Port: port, Path: "/away"}}); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := on.Hook(ctx, corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{Host: host, Port: port, Path: "/slow"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("a hook outlived its context: %v", err)
	}
}

func TestTCP(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	on, port := target(t, listener.Addr().String())
	probe := corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: port}}
	if err := on.Probe(t.Context(), probe); err != nil {
		t.Errorf("open port: %v", err)
	}
	_ = listener.Close()
	if err := on.Probe(t.Context(), probe); err == nil {
		t.Error("closed port answered")
	}
}

func TestGRPC(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server, state := grpc.NewServer(), health.NewServer()
	healthpb.RegisterHealthServer(server, state)
	go func() { _ = server.Serve(listener) }()
	defer server.Stop()
	on, port := target(t, listener.Addr().String())
	probe := corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: port.IntVal}}
	if err := on.Probe(t.Context(), probe); err != nil {
		t.Errorf("serving: %v", err)
	}
	state.SetServingStatus("", healthpb.HealthCheckResponse_NOT_SERVING)
	if err := on.Probe(t.Context(), probe); err == nil || !strings.Contains(err.Error(), "NOT_SERVING") {
		t.Errorf("not serving: %v", err)
	}
}

func TestExec(t *testing.T) {
	on := Target{Exec: func(_ context.Context, command []string) (string, error) {
		if command[0] == "good" {
			return "fine", nil
		}
		return "broken\n", errors.New("exit code 1")
	}}
	if err := on.Probe(t.Context(), corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"good"}}}); err != nil {
		t.Error(err)
	}
	err := on.Hook(t.Context(), corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"bad"}}})
	if text(err) != "exit code 1: broken" {
		t.Errorf("message is %q", text(err))
	}
}
