// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"go.opentelemetry.io/otel/propagation"
	admissionv1 "k8s.io/api/admission/v1"
	apixv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"weir.dev/pkg/logging"
	. "weir.dev/pkg/reconciler/testing"
	"weir.dev/pkg/webhook"
)

func TestAdmission(t *testing.T) {
	s := start(t, webhook.Options{GracePeriod: 1}, stateless{controller: controller{"/x", func(ctx context.Context, req *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		if !logging.HasLogger(ctx) {
			t.Error("a controller logs to its context's logger")
		}
		return webhook.MakeErrorStatus("no %s here", req.Name)
	}}})
	got := s.admit("/x", &admissionv1.AdmissionRequest{UID: "the-uid", Name: "dog"})
	if got.UID != "the-uid" || got.Allowed || got.Result.Message != "no dog here" || got.Result.Reason != metav1.StatusReasonBadRequest {
		t.Errorf("the answer must be the controller's, to that request: %+v", got)
	}
}

func TestConversion(t *testing.T) {
	s := start(t, webhook.Options{GracePeriod: 1}, converter{"/convert"})
	body, err := json.Marshal(apixv1.ConversionReview{Request: &apixv1.ConversionRequest{
		UID: "the-uid", DesiredAPIVersion: "x/v1", Objects: []runtime.RawExtension{{Raw: []byte(`{"a":1}`)}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	code, answer := s.post("/convert", "application/json", bytes.NewReader(body))
	got := apixv1.ConversionReview{}
	if err := json.Unmarshal([]byte(answer), &got); err != nil || code != http.StatusOK {
		t.Fatalf("%d %v: %s", code, err, answer)
	}
	if got.Kind != "ConversionReview" || got.APIVersion != "apiextensions.k8s.io/v1" || got.Response.UID != "the-uid" || len(got.Response.ConvertedObjects) != 1 {
		t.Errorf("the answer must be the converter's, to that request: %s", answer)
	}
}

func TestHTTP(t *testing.T) {
	s := start(t, webhook.Options{GracePeriod: 1}, stateless{controller: controller{"/admit", allow}}, converter{"/convert"})
	tests := map[string]struct {
		reason      string
		path        string
		contentType string
		body        string
		want        int
	}{
		"UnknownPath":      {"nobody serves it", "/other", "application/json", "{}", http.StatusBadRequest},
		"Below":            {"a path is the whole path", "/admit/x", "application/json", "{}", http.StatusBadRequest},
		"ContentType":      {"the API server sends JSON", "/admit", "text/plain", "{}", http.StatusUnsupportedMediaType},
		"NotJSON":          {"nor is this", "/admit", "application/json", "{", http.StatusBadRequest},
		"NoRequest":        {"a review without one asks nothing", "/admit", "application/json", "{}", http.StatusBadRequest},
		"NoConversion":     {"the same holds for conversions", "/convert", "application/json", "{}", http.StatusBadRequest},
		"Charset":          {"parameters do not change the type", "/admit", "application/json; charset=utf-8", `{"request":{}}`, http.StatusOK},
		"TooLarge":         {"3 MiB is the API server's limit", "/admit", "application/json", `"` + strings.Repeat("x", 4<<20) + `"`, http.StatusRequestEntityTooLarge},
		"TooLargeToObject": {"so it is for conversions", "/convert", "application/json", `"` + strings.Repeat("x", 4<<20) + `"`, http.StatusRequestEntityTooLarge},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if code, answer := s.post(tc.path, tc.contentType, strings.NewReader(tc.body)); code != tc.want {
				t.Errorf("%s: got %d, want %d: %s", tc.reason, code, tc.want, answer)
			}
		})
	}
}

// TestInformersHaveSynced is about requests that come before the caches are
// filled: a controller that reads them would answer by half the truth.
func TestInformersHaveSynced(t *testing.T) {
	var released atomic.Bool
	arrived := arrival{seen: make(chan struct{})}
	s := start(t, webhook.Options{GracePeriod: 1, TextMapPropagator: arrived},
		stateless{controller: controller{"/stateless", allow}}, converter{"/convert"},
		controller{"/stateful", func(context.Context, *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
			if !released.Load() {
				t.Error("it must wait for its informers")
			}
			return webhook.Allow()
		}})

	answered := make(chan int, 1)
	go func() { answered <- s.stateful() }()
	<-arrived.seen
	if got := s.admit("/stateless", &admissionv1.AdmissionRequest{}); !got.Allowed {
		t.Errorf("one that needs none must not wait: %+v", got)
	}
	if code, _ := s.post("/convert", "application/json", strings.NewReader(`{"request":{}}`)); code != http.StatusOK {
		t.Errorf("informers may need conversions to sync: %d", code)
	}
	released.Store(true)
	s.webhook.InformersHaveSynced()
	s.webhook.InformersHaveSynced() // again is no harm
	if code := <-answered; code != http.StatusOK {
		t.Errorf("got %d once the informers have synced", code)
	}
}

// arrival is a propagator that tells when a request that asks for it has
// arrived, before its controller is asked.
type arrival struct {
	propagation.TextMapPropagator
	seen chan struct{}
}

func (a arrival) Extract(ctx context.Context, carrier propagation.TextMapCarrier) context.Context {
	if carrier.Get("Tell") != "" {
		a.seen <- struct{}{}
	}
	return ctx
}

// stateful posts a request whose arrival is told, and returns the status.
func (s *server) stateful() int {
	req, err := http.NewRequestWithContext(s.ctx, http.MethodPost, s.url+"/stateful", strings.NewReader(`{"request":{}}`))
	if err != nil {
		s.t.Error(err)
		return 0
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Tell", "arrival")
	resp, err := s.client(nil).Do(req)
	if err != nil {
		s.t.Error(err)
		return 0
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

func TestStopBeforeInformersHaveSynced(t *testing.T) {
	arrived := arrival{seen: make(chan struct{})}
	s := start(t, webhook.Options{GracePeriod: 1, TextMapPropagator: arrived}, controller{"/stateful", allow})
	answered := make(chan int, 1)
	go func() { answered <- s.stateful() }()
	<-arrived.seen
	if err := s.stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	if code := <-answered; code != http.StatusServiceUnavailable {
		t.Errorf("who waits must not keep the server: got %d", code)
	}
}

func TestNewErrors(t *testing.T) {
	named := webhook.Options{SecretName: secretName}
	withMax := named
	withMax.TLSMaxVersion = tls.VersionTLS12
	old := named
	old.TLSMinVersion = tls.VersionTLS11
	tests := map[string]struct {
		reason      string
		opts        *webhook.Options
		controllers []any
		want        string
	}{
		"NoOptions": {"nothing says how to serve", nil, nil, "no options"},
		"NoSecret":  {"there is no certificate", &webhook.Options{}, nil, "no Secret"},
		"Old":       {"1.1 is broken", &old, nil, "1.1"},
		"Reversed":  {"no version is left", &withMax, nil, "below the least"},
		"Stranger":  {"it answers nothing", &named, []any{"x"}, "string"},
		"Twice":     {"one would never be asked", &named, []any{converter{"/x"}, controller{"/x", allow}}, `"/x"`},
		"NoPath":    {"a path begins with a slash", &named, []any{converter{""}}, `""`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			ctx, _ := SetupFakeContext(t)
			if tc.opts != nil {
				ctx = webhook.WithOptions(ctx, *tc.opts)
			}
			if _, err := webhook.New(ctx, tc.controllers); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: got %v, want an error with %q", tc.reason, err, tc.want)
			}
		})
	}
}

func TestPortInUse(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	ctx, _ := SetupFakeContext(t)
	wh, err := webhook.New(webhook.WithOptions(ctx, webhook.Options{
		SecretName: secretName, Port: listener.Addr().(*net.TCPAddr).Port,
	}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := wh.Run(nil); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("whoever runs it must hear of it: %v", err)
	}
}
