// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"go.uber.org/zap"
	admissionv1 "k8s.io/api/admission/v1"
	apixv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// echo admits everything, and converts everything into itself.
type echo struct{}

func (echo) Path() string { return "/" }

func (echo) Admit(context.Context, *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return Allow()
}

func (echo) Convert(_ context.Context, req *apixv1.ConversionRequest) *apixv1.ConversionResponse {
	return &apixv1.ConversionResponse{ConvertedObjects: req.Objects, Result: metav1.Status{Status: metav1.StatusSuccess}}
}

// serveFuzzed serves a body. A status other than 200 must be a refusal.
func serveFuzzed(t *testing.T, h http.Handler, body []byte) (answer []byte, ok bool) {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusOK && w.Code != http.StatusBadRequest {
		t.Fatalf("status %d", w.Code)
	}
	return w.Body.Bytes(), w.Code == http.StatusOK
}

func FuzzAdmissionReview(f *testing.F) {
	f.Add([]byte(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"a","operation":"CREATE","object":{"a":1}}}`))
	f.Add([]byte(`{"request":null}`))
	f.Add([]byte(`[`))
	instruments, err := newTelemetry(Telemetry{})
	if err != nil {
		f.Fatal(err)
	}
	h := admission{controller: echo{}, telemetry: instruments, log: zap.NewNop().Sugar()}
	f.Fuzz(func(t *testing.T, body []byte) {
		answer, ok := serveFuzzed(t, h, body)
		if !ok {
			return
		}
		var asked, got admissionv1.AdmissionReview
		if err := json.NewDecoder(bytes.NewReader(body)).Decode(&asked); err != nil || asked.Request == nil {
			t.Fatalf("answered what is no review: %v", err)
		}
		if err := json.Unmarshal(answer, &got); err != nil || got.Response == nil || got.Response.UID != asked.Request.UID {
			t.Fatalf("no answer to the request: %v: %s", err, answer)
		}
	})
}

func FuzzConversionReview(f *testing.F) {
	f.Add([]byte(`{"kind":"ConversionReview","request":{"uid":"a","desiredAPIVersion":"x/v1","objects":[{"a":1},null]}}`))
	f.Add([]byte(`{"request":{"objects":[1]}}`))
	instruments, err := newTelemetry(Telemetry{})
	if err != nil {
		f.Fatal(err)
	}
	h := conversion{controller: echo{}, telemetry: instruments, log: zap.NewNop().Sugar()}
	f.Fuzz(func(t *testing.T, body []byte) {
		answer, ok := serveFuzzed(t, h, body)
		if !ok {
			return
		}
		var asked, got apixv1.ConversionReview
		if err := json.NewDecoder(bytes.NewReader(body)).Decode(&asked); err != nil || asked.Request == nil {
			t.Fatalf("answered what is no review: %v", err)
		}
		if err := json.Unmarshal(answer, &got); err != nil || len(got.Response.ConvertedObjects) != len(asked.Request.Objects) {
			t.Fatalf("no answer to the request: %v: %s", err, answer)
		}
	})
}
