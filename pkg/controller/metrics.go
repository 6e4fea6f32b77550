// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"k8s.io/client-go/util/workqueue"

	"weir.dev/pkg/observability"
)

const (
	// scope names the instruments and spans of this package.
	scope = "weir.dev/pkg/controller"
	// queueScope is the name by which dashboards know the queues' instruments.
	queueScope = "knative.dev/pkg/observability/metrics/k8s"
)

// queueMetrics is what a work queue counts. A queue is made before anybody
// knows with which provider metrics are recorded, so it counts by itself, and
// publish hands the counts out while the controller runs.
type queueMetrics struct {
	depth, adds, retries atomic.Int64
	unfinished, longest  seconds
	waited, worked       durations
}

var _ workqueue.MetricsProvider = (*queueMetrics)(nil)

// NewDepthMetric implements workqueue.MetricsProvider.
func (m *queueMetrics) NewDepthMetric(string) workqueue.GaugeMetric { return counter{&m.depth} }

// NewAddsMetric implements workqueue.MetricsProvider.
func (m *queueMetrics) NewAddsMetric(string) workqueue.CounterMetric { return counter{&m.adds} }

// NewRetriesMetric implements workqueue.MetricsProvider.
func (m *queueMetrics) NewRetriesMetric(string) workqueue.CounterMetric { return counter{&m.retries} }

// NewLatencyMetric implements workqueue.MetricsProvider.
func (m *queueMetrics) NewLatencyMetric(string) workqueue.HistogramMetric { return &m.waited }

// NewWorkDurationMetric implements workqueue.MetricsProvider.
func (m *queueMetrics) NewWorkDurationMetric(string) workqueue.HistogramMetric { return &m.worked }

// NewUnfinishedWorkSecondsMetric implements workqueue.MetricsProvider.
func (m *queueMetrics) NewUnfinishedWorkSecondsMetric(string) workqueue.SettableGaugeMetric {
	return &m.unfinished
}

// NewLongestRunningProcessorSecondsMetric implements workqueue.MetricsProvider.
func (m *queueMetrics) NewLongestRunningProcessorSecondsMetric(string) workqueue.SettableGaugeMetric {
	return &m.longest
}

// publish hands the counts of the queue of that name to the provider of ctx
// until the function that it returns is called.
func (m *queueMetrics) publish(ctx context.Context, name string) (func(), error) {
	meter := observability.GetMeterProvider(ctx).Meter(queueScope)
	of := metric.WithAttributeSet(attribute.NewSet(attribute.String("name", name)))
	var errs []error
	histogram := func(name, what string) metric.Float64Histogram {
		h, err := meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(what),
			metric.WithExplicitBucketBoundaries(0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30))
		errs = append(errs, err)
		return h
	}
	m.waited.to.Store(&recorder{histogram("kn.workqueue.queue.duration", "How long keys waited in the queue."), of})
	m.worked.to.Store(&recorder{histogram("kn.workqueue.process.duration", "How long the work on a key took."), of})

	stop, err := m.observe(meter, of)
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, fmt.Errorf("making the instruments of queue %s: %w", name, err)
	}
	return stop, nil
}

// observe registers what is read when metrics are collected.
func (m *queueMetrics) observe(meter metric.Meter, of metric.MeasurementOption) (func(), error) {
	depth, err1 := meter.Int64ObservableGauge("kn.workqueue.depth", metric.WithUnit("{item}"), metric.WithDescription("Keys that wait."))
	adds, err2 := meter.Int64ObservableCounter("kn.workqueue.adds", metric.WithUnit("{item}"), metric.WithDescription("Keys added so far."))
	retries, err3 := meter.Int64ObservableCounter("kn.workqueue.retries", metric.WithUnit("{item}"), metric.WithDescription("Keys added with a delay so far."))
	unfinished, err4 := meter.Float64ObservableGauge("kn.workqueue.unfinished_work", metric.WithUnit("s"), metric.WithDescription("How long the work in progress took so far, in sum."))
	longest, err5 := meter.Float64ObservableGauge("kn.workqueue.longest_running_processor", metric.WithUnit("s"), metric.WithDescription("How long the longest work in progress took so far."))
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return nil, err
	}
	registration, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		o.ObserveInt64(depth, m.depth.Load(), of)
		o.ObserveInt64(adds, m.adds.Load(), of)
		o.ObserveInt64(retries, m.retries.Load(), of)
		o.ObserveFloat64(unfinished, m.unfinished.get(), of)
		o.ObserveFloat64(longest, m.longest.get(), of)
		return nil
	}, depth, adds, retries, unfinished, longest)
	if err != nil {
		return nil, err
	}
	return func() { _ = registration.Unregister() }, nil
}

// counter counts up and down.
type counter struct{ n *atomic.Int64 }

func (c counter) Inc() { c.n.Add(1) }
func (c counter) Dec() { c.n.Add(-1) }

// seconds keeps the last value set.
type seconds struct{ bits atomic.Uint64 }

func (s *seconds) Set(v float64) { s.bits.Store(math.Float64bits(v)) }
func (s *seconds) get() float64  { return math.Float64frombits(s.bits.Load()) }

// durations drops what it observes until it knows where to.
type durations struct{ to atomic.Pointer[recorder] }

type recorder struct {
	histogram metric.Float64Histogram
	of        metric.MeasurementOption
}

// Observe implements workqueue.HistogramMetric.
func (d *durations) Observe(v float64) {
	if r := d.to.Load(); r != nil {
		r.histogram.Record(context.Background(), v, r.of)
	}
}
