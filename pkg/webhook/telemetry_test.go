// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/trace"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"weir.dev/pkg/webhook"
)

func TestMetrics(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	s := start(t, webhook.Options{GracePeriod: 1, MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))},
		stateless{controller: controller{"/x", func(context.Context, *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
			return webhook.MakeErrorStatus("no")
		}}})
	s.admit("/x", &admissionv1.AdmissionRequest{
		Kind:      metav1.GroupVersionKind{Group: "g", Version: "v1", Kind: "Thing"},
		Resource:  metav1.GroupVersionResource{Group: "g", Version: "v1", Resource: "things"},
		Operation: webhook.Create, SubResource: "status",
	})

	var got metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.ScopeMetrics) != 1 || got.ScopeMetrics[0].Scope.Name != "knative.dev/pkg/webhook" || len(got.ScopeMetrics[0].Metrics) != 1 {
		t.Fatalf("got %+v", got.ScopeMetrics)
	}
	metric := got.ScopeMetrics[0].Metrics[0]
	durations, ok := metric.Data.(metricdata.Histogram[float64])
	if !ok || metric.Name != "kn.webhook.handler.duration" || metric.Unit != "s" || len(durations.DataPoints) != 1 || durations.DataPoints[0].Count != 1 {
		t.Fatalf("got %+v", metric)
	}
	for key, want := range map[attribute.Key]string{
		"kn.webhook.type": "admission", "kn.webhook.resource.group": "g", "kn.webhook.resource.version": "v1",
		"kn.webhook.resource.kind": "Thing", "kn.webhook.subresource": "status",
		"kn.webhook.operation.type": "CREATE", "kn.webhook.operation.status": "failed",
	} {
		if value, _ := durations.DataPoints[0].Attributes.Value(key); value.AsString() != want {
			t.Errorf("%s is %q, want %q", key, value.AsString(), want)
		}
	}
}

func TestTraceGoesOn(t *testing.T) {
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	seen := make(chan string, 1)
	s := start(t, webhook.Options{GracePeriod: 1, TextMapPropagator: propagation.TraceContext{}},
		stateless{controller: controller{"/x", func(ctx context.Context, _ *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
			seen <- trace.SpanContextFromContext(ctx).TraceID().String()
			return webhook.Allow()
		}}})
	req, err := http.NewRequestWithContext(s.ctx, http.MethodPost, s.url+"/x", strings.NewReader(`{"request":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Traceparent", "00-"+id+"-00f067aa0ba902b7-01")
	resp, err := s.client(nil).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if got := <-seen; got != id {
		t.Errorf("the API server's trace must go on: got %s", got)
	}
}
