// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"weir.dev/pkg/observability"
)

// outcome says what became of a key after its run.
type outcome string

const (
	done      outcome = "done"      // nothing is left to do
	requeued  outcome = "requeued"  // the reconciler asked for another run
	skipped   outcome = "skipped"   // the key is another replica's, or its namespace goes
	stale     outcome = "stale"     // decided on an outdated read; tried again
	failed    outcome = "failed"    // tried again, ever later
	permanent outcome = "permanent" // failed, and not tried again
)

// outcomeOf reads a run's error. A run that ended because ctx did is skipped.
func outcomeOf(ctx context.Context, err error) outcome {
	if err == nil {
		return done
	}
	requeue, _ := IsRequeueKey(err)
	switch {
	case requeue:
		return requeued
	case IsSkipKey(err), IsNamespaceTerminating(err), ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return skipped
	case IsPermanentError(err):
		return permanent
	case IsStaleRead(err):
		return stale
	}
	return failed
}

// runs counts the runs of a controller by their outcome.
type runs struct {
	counter metric.Int64Counter
	of      map[outcome]metric.MeasurementOption
}

func newRuns(ctx context.Context, name string) (*runs, error) {
	counter, err := observability.GetMeterProvider(ctx).Meter(scope).Int64Counter("kn.reconcile.runs",
		metric.WithUnit("{run}"), metric.WithDescription("Runs of the reconciler so far, by what became of the key."))
	if err != nil {
		return nil, fmt.Errorf("making the instruments of controller %s: %w", name, err)
	}
	r := &runs{counter: counter, of: map[outcome]metric.MeasurementOption{}}
	for _, o := range []outcome{done, requeued, skipped, stale, failed, permanent} {
		r.of[o] = metric.WithAttributeSet(attribute.NewSet(
			attribute.String("name", name), attribute.String("outcome", string(o))))
	}
	return r, nil
}

func (r *runs) count(ctx context.Context, o outcome) { r.counter.Add(ctx, 1, r.of[o]) }
