// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"go.opentelemetry.io/otel/propagation"
	admissionv1 "k8s.io/api/admission/v1"
	apixv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	kubefake "weir.dev/pkg/client/injection/kube/client/fake"
	"weir.dev/pkg/logging"
	. "weir.dev/pkg/reconciler/testing"
	"weir.dev/pkg/system"
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

func TestRenewedCertificate(t *testing.T) {
	s := start(t, webhook.Options{GracePeriod: 1}, stateless{controller: controller{"/x", allow}})
	presented := func() string {
		t.Helper()
		resp, err := s.client(nil).Get(s.url + "/x")
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.TLS.PeerCertificates[0].SerialNumber.String()
	}
	first := presented()
	if again := presented(); again != first {
		t.Error("the certificate must stay while the Secret does")
	}
	s.store(s.certificate())
	second := presented()
	if second == first {
		t.Error("a renewed certificate must be presented at once")
	}
	broken := s.certificate()
	broken.Data["server-key.pem"] = []byte("junk")
	s.store(broken)
	if got := presented(); got != second {
		t.Error("what cannot be read must not end the service")
	}
	if err := kubefake.Get(s.ctx).CoreV1().Secrets(system.Namespace()).Delete(s.ctx, secretName, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	<-s.seen
	if got := presented(); got != second {
		t.Error("a Secret that is gone must not either")
	}
}

func TestTLS(t *testing.T) {
	tests := map[string]struct {
		reason   string
		opts     webhook.Options
		env      map[string]string
		client   func(*tls.Config)
		want     uint16 // 0: refused
		protocol string
	}{
		"Default": {"the newest", webhook.Options{}, nil, nil, tls.VersionTLS13, "HTTP/1.1"},
		"Old": {
			"1.2 is for those who ask", webhook.Options{}, nil,
			func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }, 0, "",
		},
		"OldAllowed": {
			"the options ask", webhook.Options{TLSMinVersion: tls.VersionTLS12}, nil,
			func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }, tls.VersionTLS12, "HTTP/1.1",
		},
		"OldAllowedByEnvironment": {
			"the operator asks", webhook.Options{}, map[string]string{"WEBHOOK_TLS_MIN_VERSION": "1.2"},
			func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }, tls.VersionTLS12, "HTTP/1.1",
		},
		"OptionsFirst": {
			"the program knows better than its surroundings",
			webhook.Options{TLSMinVersion: tls.VersionTLS13}, map[string]string{"WEBHOOK_TLS_MIN_VERSION": "1.2"},
			func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }, 0, "",
		},
		"Suites": {
			"only those that are chosen",
			webhook.Options{TLSMinVersion: tls.VersionTLS12, TLSMaxVersion: tls.VersionTLS12, TLSCipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384}}, nil,
			func(c *tls.Config) {
				c.MaxVersion, c.CipherSuites = tls.VersionTLS12, []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}
			}, 0, "",
		},
		"Curves": {
			"only those that are chosen", webhook.Options{TLSCurvePreferences: []tls.CurveID{tls.CurveP384}}, nil,
			func(c *tls.Config) { c.CurvePreferences = []tls.CurveID{tls.X25519} }, 0, "",
		},
		"HTTP2": {"for those who ask", webhook.Options{EnableHTTP2: true}, nil, nil, tls.VersionTLS13, "HTTP/2.0"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for k, v := range tc.env {
				t.Setenv(k, v)
			}
			tc.opts.GracePeriod = 1
			s := start(t, tc.opts, stateless{controller: controller{"/x", allow}})
			resp, err := s.client(tc.client).Get(s.url + "/x")
			if tc.want == 0 {
				if err == nil {
					t.Errorf("%s: got %s", tc.reason, tls.VersionName(resp.TLS.Version))
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			_ = resp.Body.Close()
			if resp.TLS.Version != tc.want || resp.Proto != tc.protocol {
				t.Errorf("%s: got %s over %s", tc.reason, resp.Proto, tls.VersionName(resp.TLS.Version))
			}
		})
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
