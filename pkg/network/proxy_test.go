// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package network_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"go.uber.org/zap"

	"weir.dev/pkg/network"
)

// proxyTo is a reverse proxy as servers of a cluster have them.
func proxyTo(t *testing.T, target string, rt http.RoundTripper) *httputil.ReverseProxy {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	return &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(u) },
		Transport:     rt,
		FlushInterval: -1,
		ErrorHandler:  network.ErrorHandler(zap.NewNop().Sugar()),
	}
}

// TestWebSocket talks through a proxy whose transport takes the protocol of
// the request.
func TestWebSocket(t *testing.T) {
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = c.CloseNow() }()
		for {
			kind, message, err := c.Read(r.Context())
			if err != nil || c.Write(r.Context(), kind, message) != nil {
				return
			}
		}
	})
	backend := serve(t, echo, nil)
	rt := network.NewProxyAutoTransport(1, 1)
	closeIdle(t, rt)
	front := serve(t, proxyTo(t, backend.url, rt), nil)

	clients := network.NewAutoTransport(1, 1)
	closeIdle(t, clients)
	c, _, err := websocket.Dial(t.Context(), front.url, &websocket.DialOptions{HTTPClient: &http.Client{Transport: clients}}) //nolint:bodyclose // the connection itself
	if err != nil {
		t.Fatalf("Dial: %v", err)
	}
	for _, want := range []string{"one", "two"} {
		if err := c.Write(t.Context(), websocket.MessageText, []byte(want)); err != nil {
			t.Fatalf("Write: %v", err)
		}
		if _, got, err := c.Read(t.Context()); err != nil || string(got) != want {
			t.Fatalf("read %q, %v, want %q", got, err, want)
		}
	}
	if err := c.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// TestStreams: over HTTP/2 a proxy passes parts of both bodies while they go on.
func TestStreams(t *testing.T) {
	backend := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		part := make([]byte, 4)
		for {
			if _, err := io.ReadFull(r.Body, part); err != nil {
				return
			}
			_, _ = w.Write(part)
			_ = http.NewResponseController(w).Flush()
		}
	}), nil)
	rt := network.NewProxyAutoTransport(1, 1)
	closeIdle(t, rt)
	front := serve(t, proxyTo(t, backend.url, rt), nil)

	clients := network.NewAutoTransport(1, 1)
	closeIdle(t, clients)
	body, write := io.Pipe()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, front.url, body)
	if err != nil {
		t.Fatalf("NewRequest: %v", err)
	}
	r.ProtoMajor = 2
	go func() { _, _ = write.Write([]byte("ping")) }()
	resp, err := clients.RoundTrip(r)
	if err != nil {
		t.Fatalf("RoundTrip: %v", err)
	}
	defer resp.Body.Close()
	part := make([]byte, 4)
	for _, next := range []string{"pong", "done"} {
		if _, err := io.ReadFull(resp.Body, part); err != nil {
			t.Fatalf("reading a part: %v", err)
		}
		if _, err := write.Write([]byte(next)); err != nil {
			t.Fatalf("writing a part: %v", err)
		}
	}
	write.Close()
	if rest, err := io.ReadAll(resp.Body); err != nil || string(rest) != "done" {
		t.Errorf("the rest is %q, %v", rest, err)
	}
}

func TestErrorHandler(t *testing.T) {
	gone, leave := context.WithCancel(t.Context())
	leave()
	tests := map[string]struct {
		reason string
		ctx    context.Context
		want   string
	}{
		"Error":  {"the client learns why", t.Context(), "502 broken pipe"},
		"Client": {"nobody reads an answer", gone, "200 "},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := httptest.NewRecorder()
			r := httptest.NewRequest(http.MethodGet, "/", nil).WithContext(tc.ctx)
			network.ErrorHandler(zap.NewNop().Sugar())(w, r, errors.New("broken pipe"))
			if got := fmt.Sprint(w.Code, " ", strings.TrimSpace(w.Body.String())); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
