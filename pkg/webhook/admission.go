// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"go.uber.org/zap"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"weir.dev/pkg/apis"
	"weir.dev/pkg/logging"
	"weir.dev/pkg/logging/logkey"
)

// maxBody is the API server's own limit of a request, 3 MiB.
const maxBody = 3 << 20

// AdmissionController answers the admission requests of one path.
type AdmissionController interface {
	// Path is where it is served, beginning with a slash.
	Path() string
	// Admit answers one request.
	Admit(ctx context.Context, req *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse
}

// MakeErrorStatus refuses a request with a message.
func MakeErrorStatus(reason string, args ...any) *admissionv1.AdmissionResponse {
	status := apierrors.NewBadRequest(fmt.Sprintf(reason, args...)).Status()
	return &admissionv1.AdmissionResponse{Result: &status, Allowed: false}
}

// Allow lets a request pass as it is.
func Allow() *admissionv1.AdmissionResponse { return &admissionv1.AdmissionResponse{Allowed: true} }

// handler serves one controller.
type handler struct {
	controller AdmissionController
	log        *zap.SugaredLogger
}

// ServeHTTP reads an AdmissionReview and writes one with the answer.
func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if contentType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); contentType != "application/json" {
		http.Error(w, "invalid Content-Type, want application/json", http.StatusUnsupportedMediaType)
		return
	}
	review, err := readReview(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		code := http.StatusBadRequest
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			code = http.StatusRequestEntityTooLarge
		}
		http.Error(w, "could not decode body: "+err.Error(), code)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(h.answer(r, review.Request)); err != nil {
		h.log.Warnw("The answer did not reach the API server", zap.Error(err))
	}
}

func readReview(body io.Reader) (*admissionv1.AdmissionReview, error) {
	review := &admissionv1.AdmissionReview{}
	if err := json.NewDecoder(body).Decode(review); err != nil {
		return nil, err
	}
	if review.Request == nil {
		return nil, errors.New("the review has no request")
	}
	return review, nil
}

func (h handler) answer(r *http.Request, req *admissionv1.AdmissionRequest) *admissionv1.AdmissionReview {
	log := h.log.With(
		logkey.Kind, req.Kind.String(),
		logkey.Namespace, req.Namespace,
		logkey.Name, req.Name,
		logkey.Operation, string(req.Operation),
	)
	ctx := apis.WithHTTPRequest(logging.WithLogger(r.Context(), log), r)
	response := h.controller.Admit(ctx, req)
	response.UID = req.UID
	if !response.Allowed {
		log.Debugw("Refused", "result", response.Result)
	}
	return &admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"},
		Response: response,
	}
}
