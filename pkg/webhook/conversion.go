// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.uber.org/zap"
	apixv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"weir.dev/pkg/apis"
	"weir.dev/pkg/logging"
)

// ConversionController answers the conversion requests of one path. It is
// served before the informers have synced: to list the objects of a kind, they
// may need its conversion.
type ConversionController interface {
	// Path is where it is served, beginning with a slash.
	Path() string
	// Convert answers one request.
	Convert(ctx context.Context, req *apixv1.ConversionRequest) *apixv1.ConversionResponse
}

// conversion serves one ConversionController.
type conversion struct {
	controller ConversionController
	telemetry  *telemetry
	log        *zap.SugaredLogger
}

// ServeHTTP reads a ConversionReview and writes one with the answer.
func (h conversion) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	review, ok := readReview(w, r, func(review *apixv1.ConversionReview) error {
		if review.Request == nil {
			return errors.New("the review has no request")
		}
		return nil
	})
	if !ok {
		return
	}
	response := h.answer(r, review.Request)
	response.UID = review.Request.UID
	writeReview(w, h.log, &apixv1.ConversionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: apixv1.SchemeGroupVersion.String(), Kind: "ConversionReview"},
		Response: response,
	})
}

func (h conversion) answer(r *http.Request, req *apixv1.ConversionRequest) *apixv1.ConversionResponse {
	log := h.log.With("desired", req.DesiredAPIVersion, "objects", len(req.Objects))
	ctx := apis.WithHTTPRequest(logging.WithLogger(r.Context(), log), r)
	began := time.Now()
	response := h.controller.Convert(ctx, req)
	succeeded := response.Result.Status == metav1.StatusSuccess
	h.telemetry.observe(ctx, began, succeeded,
		attribute.String("kn.webhook.type", "conversion"),
		attribute.String("kn.webhook.operation.type", "CONVERT"),
	)
	if !succeeded {
		log.Debugw("Not converted", "result", response.Result)
	}
	return response
}
