// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.uber.org/zap"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"weir.dev/pkg/apis"
	"weir.dev/pkg/logging"
	"weir.dev/pkg/logging/logkey"
)

// Operation is what is being done to an object.
type Operation = admissionv1.Operation

// The operations.
const (
	Create  = admissionv1.Create
	Update  = admissionv1.Update
	Delete  = admissionv1.Delete
	Connect = admissionv1.Connect
)

// AdmissionController answers the admission requests of one path.
type AdmissionController interface {
	// Path is where it is served, beginning with a slash.
	Path() string
	// Admit answers one request.
	Admit(ctx context.Context, req *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse
}

// StatelessAdmissionController is an AdmissionController that is served before
// the informers have synced. It embeds StatelessAdmissionImpl.
type StatelessAdmissionController interface {
	AdmissionController
	stateless
}

type stateless interface{ needsNoInformers() }

// StatelessAdmissionImpl marks an AdmissionController that embeds it as one that
// reads no informer's cache.
type StatelessAdmissionImpl struct{}

var _ stateless = StatelessAdmissionImpl{}

func (StatelessAdmissionImpl) needsNoInformers() {}

// MakeErrorStatus refuses a request with a message.
func MakeErrorStatus(reason string, args ...any) *admissionv1.AdmissionResponse {
	status := apierrors.NewBadRequest(fmt.Sprintf(reason, args...)).Status()
	return &admissionv1.AdmissionResponse{Result: &status, Allowed: false}
}

// Allow lets a request pass as it is.
func Allow() *admissionv1.AdmissionResponse { return &admissionv1.AdmissionResponse{Allowed: true} }

// admission serves one AdmissionController.
type admission struct {
	controller AdmissionController
	telemetry  *telemetry
	log        *zap.SugaredLogger
}

// ServeHTTP reads an AdmissionReview and writes one with the answer.
func (h admission) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	review, ok := readReview(w, r, func(review *admissionv1.AdmissionReview) error {
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
	writeReview(w, h.log, &admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"},
		Response: response,
	})
}

func (h admission) answer(r *http.Request, req *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	log := h.log.With(
		logkey.Kind, req.Kind.String(),
		logkey.Namespace, req.Namespace,
		logkey.Name, req.Name,
		logkey.Operation, string(req.Operation),
	)
	ctx := apis.WithHTTPRequest(logging.WithLogger(r.Context(), log), r)
	began := time.Now()
	response := h.controller.Admit(ctx, req)
	h.telemetry.observe(ctx, began, response.Allowed, admissionAttributes(req)...)
	if !response.Allowed {
		log.Debugw("Refused", "result", response.Result)
	}
	return response
}

func admissionAttributes(req *admissionv1.AdmissionRequest) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String("kn.webhook.type", "admission"),
		attribute.String("kn.webhook.resource.group", req.Resource.Group),
		attribute.String("kn.webhook.resource.version", req.Resource.Version),
		attribute.String("kn.webhook.resource.kind", req.Kind.Kind),
		attribute.String("kn.webhook.subresource", req.SubResource),
		attribute.String("kn.webhook.operation.type", string(req.Operation)),
	}
}
