// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"k8s.io/apimachinery/pkg/types"

	"weir.dev/pkg/logging"
	"weir.dev/pkg/logging/logkey"
	"weir.dev/pkg/observability"
	"weir.dev/pkg/reconciler"
)

// TestMetrics: what was enqueued before the controller ran counts, too.
func TestMetrics(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	ctx := observability.WithMeterProvider(t.Context(), sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))
	ctx, cancel := context.WithCancel(ctx)
	tried := 0
	impl := NewImpl(alwaysAware(func(_ context.Context, key string) error {
		switch tried++; {
		case key == "bad":
			return NewPermanentError(errors.New("bad"))
		case tried <= 2:
			return errors.New("not yet")
		}
		cancel()
		return nil
	}), zap.NewNop().Sugar(), "queue")
	impl.EnqueueKey(types.NamespacedName{Name: "bad"})
	impl.EnqueueKey(types.NamespacedName{Namespace: "ns", Name: "good"})
	if err := impl.RunContext(ctx, 1); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		`kn.reconcile.runs{name=queue,outcome=done}`:      "1",
		`kn.reconcile.runs{name=queue,outcome=failed}`:    "1",
		`kn.reconcile.runs{name=queue,outcome=permanent}`: "1",
		`kn.workqueue.queue.duration{name=queue}`:         "3 observations",
		`kn.workqueue.process.duration{name=queue}`:       "3 observations",
	}
	if d := cmp.Diff(want, collect(t, reader)); d != "" {
		t.Errorf("metrics after the end (-want +got):\n%s", d)
	}
	if got := impl.queue.metrics.adds.Load(); got != 3 {
		t.Errorf("%d adds, want two and the one tried again", got)
	}
	if got := impl.queue.metrics.retries.Load(); got != 1 {
		t.Errorf("%d retries, want 1", got)
	}
}

// awareFunc looks after leadership itself, so that no key waits for it.
type awareFunc struct {
	reconciler.LeaderAwareFuncs
	reconcilerFunc
}

func alwaysAware(f reconcilerFunc) *awareFunc { return &awareFunc{reconcilerFunc: f} }

// TestTraces: each run is a span, and its log entries carry the trace.
func TestTraces(t *testing.T) {
	recorded := tracetest.NewSpanRecorder()
	ctx := observability.WithTracerProvider(t.Context(), sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorded)))
	ctx, cancel := context.WithCancel(ctx)
	core, logs := observer.New(zap.InfoLevel)
	impl := NewImpl(reconcilerFunc(func(ctx context.Context, _ string) error {
		logging.FromContext(ctx).Info("working")
		cancel()
		return NewPermanentError(errors.New("bad"))
	}), zap.New(core).Sugar(), "queue")
	impl.EnqueueKey(types.NamespacedName{Name: "key"})
	if err := impl.RunContext(ctx, 1); err != nil {
		t.Fatal(err)
	}
	spans := recorded.Ended()
	if len(spans) != 1 || spans[0].Status().Description != "bad" {
		t.Fatalf("spans are %v, want one of the failure", spans)
	}
	want, got := spans[0].SpanContext().TraceID().String(), logs.All()[0].ContextMap()[logkey.TraceID]
	if got != want {
		t.Errorf("the log has trace %v, want %s", got, want)
	}
}

// TestObservedMetrics: what is read at collection is there while a controller
// runs, and gone after it.
func TestObservedMetrics(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	ctx := observability.WithMeterProvider(t.Context(), sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))
	m := &queueMetrics{}
	m.depth.Store(4)
	m.adds.Store(9)
	m.retries.Store(2)
	m.longest.Set(1.5)
	m.unfinished.Set(2.5)
	stop, err := m.publish(ctx, "queue")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		`kn.workqueue.depth{name=queue}`:                     "4",
		`kn.workqueue.adds{name=queue}`:                      "9",
		`kn.workqueue.retries{name=queue}`:                   "2",
		`kn.workqueue.longest_running_processor{name=queue}`: "1.5",
		`kn.workqueue.unfinished_work{name=queue}`:           "2.5",
	}
	if d := cmp.Diff(want, collect(t, reader)); d != "" {
		t.Errorf("metrics (-want +got):\n%s", d)
	}
	stop()
	if d := cmp.Diff(map[string]string{}, collect(t, reader)); d != "" {
		t.Errorf("metrics after stop (-want +got):\n%s", d)
	}
}

// collect returns each series with its value.
func collect(t *testing.T, reader sdkmetric.Reader) map[string]string {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				addPoints(values, m.Name, data.DataPoints)
			case metricdata.Gauge[int64]:
				addPoints(values, m.Name, data.DataPoints)
			case metricdata.Gauge[float64]:
				addPoints(values, m.Name, data.DataPoints)
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					values[series(m.Name, p.Attributes)] = fmt.Sprintf("%d observations", p.Count)
				}
			}
		}
	}
	return values
}

func addPoints[N int64 | float64](to map[string]string, name string, points []metricdata.DataPoint[N]) {
	for _, p := range points {
		to[series(name, p.Attributes)] = fmt.Sprint(p.Value)
	}
}

func series(name string, of attribute.Set) string {
	return fmt.Sprintf("%s{%s}", name, of.Encoded(attribute.DefaultEncoder()))
}
