// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package autoscaler

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"weir.dev/api/autoscaling/v1alpha1"
	reconcilerv1alpha1 "weir.dev/client/injection/reconciler/autoscaling/v1alpha1/podautoscaler"
	"weir.dev/internal/autoscaler/decide"
	"weir.dev/pkg/ptr"
	"weir.dev/pkg/reconciler"
)

// extraActivation is how much longer than its progress deadline a start may take before it is given up.
const extraActivation = 30 * time.Second

// reasonNoTarget is why a PodAutoscaler without a Deployment does nothing.
const reasonNoTarget = "ScaleTargetMissing"

// reasonAbandoned is why a PodAutoscaler whose target was never ready is inactive although its start has not taken too long.
const reasonAbandoned = "Abandoned"

// Reconciler scales the target of a PodAutoscaler as its loop decided and writes down what came of it.
type Reconciler struct {
	autoscaler   *Autoscaler
	enqueueAfter func(types.NamespacedName, time.Duration)
}

var _ reconcilerv1alpha1.Interface = (*Reconciler)(nil)

// ReconcileKind implements the generated Interface.
func (r *Reconciler) ReconcileKind(ctx context.Context, pa *v1alpha1.PodAutoscaler) reconciler.Event {
	pa.Status.ServiceName = pa.Name // gateways find revisions by their own name
	pa.Status.MarkSKSReady()
	t, err := r.autoscaler.cluster.targetOf(pa)
	switch {
	case apierrors.IsNotFound(err):
		pa.Status.MarkActivating(reasonNoTarget, "There is no Deployment "+pa.Spec.ScaleTargetRef.Name+".")
		return nil // its creation brings us back
	case err != nil:
		return err
	}
	l, s := r.autoscaler.ensure(pa)
	v, err := r.scale(ctx, l, s, t)
	if err != nil {
		return err
	}
	if pa.Status.DesiredScale == nil {
		pa.Status.DesiredScale = ptr.Int32(l.replicas(t.deployment)) // until something else is decided
	}
	if v.Recheck > 0 {
		r.enqueueAfter(types.NamespacedName{Namespace: pa.Namespace, Name: pa.Name}, v.Recheck)
	}
	if mark(&pa.Status, v.Want, t.ready, s.bounds) {
		l.hold(time.Now(), t.ready)
	}
	if s.abandoned && v.Want == 0 {
		pa.Status.MarkInactive(reasonAbandoned, "Another Revision took its place before it was ready.")
	}
	return nil
}

// scale carries out the last decision.
func (r *Reconciler) scale(ctx context.Context, l *loop, s settings, t target) (decide.Verdict, error) {
	l.scaling.Lock()
	defer l.scaling.Unlock()
	if _, made := l.latest(); !made {
		r.autoscaler.decide(l, t)
	}
	d, _ := l.latest()
	v := verdict(d.Desired, s, decide.Idle{
		Activity: activity(&t.pa.Status), For: inActivity(&t.pa.Status, time.Now()),
		Replicas: l.replicas(t.deployment), Busy: l.isBusy(r.autoscaler.current),
	}, activationTime(t))
	if !v.Apply {
		return v, nil
	}
	return v, r.autoscaler.apply(ctx, l, t, v.Want)
}

// verdict applies the bounds to what is desired, and the rules about zero to what they leave of it. It is pure.
func verdict(desired int32, s settings, i decide.Idle, activation time.Duration) decide.Verdict {
	if s.abandoned && !i.Busy {
		return decide.Verdict{Want: 0, Apply: true}
	}
	if s.resumed {
		return decide.Verdict{Want: s.bounds.ActiveAt(), Apply: true} // the first start, once more
	}
	want := s.bounds.Apply(desired)
	if want == decide.Unknown && i.Replicas < s.bounds.Least() {
		want = s.bounds.Least() // that much needs no figures
	}
	if want != 0 {
		return decide.Verdict{Want: want, Apply: want != decide.Unknown}
	}
	s.zero.Activation = activation
	return s.zero.ToZero(i)
}

func activationTime(t target) time.Duration {
	deadline := int32(600)
	if d := t.deployment.Spec.ProgressDeadlineSeconds; d != nil {
		deadline = *d
	}
	return time.Duration(deadline)*time.Second + extraActivation
}

// mark writes down the state that follows from what is wanted and what is there. It says whether the target has become
// ready for the first time.
func mark(status *v1alpha1.PodAutoscalerStatus, want, ready int32, b decide.Bounds) (first bool) {
	if want != decide.Unknown {
		status.DesiredScale = ptr.Int32(want)
	}
	status.ActualScale = ptr.Int32(ready)
	activeAt := b.ActiveAt()
	if first = !b.Initialized && ready >= activeAt; first {
		status.MarkScaleTargetInitialized()
	}
	switch now, reason := decide.NextActivity(want, ready, activeAt, activity(status)); now {
	case decide.Active:
		status.MarkActive()
	case decide.Inactive:
		if timedOut(status) || wasAbandoned(status) {
			break // why there is nothing stays true until the next attempt
		}
		status.MarkInactive(reason, messages(reason))
	default:
		status.MarkActivating(reason, messages(reason))
	}
	return first
}

func wasAbandoned(status *v1alpha1.PodAutoscalerStatus) bool {
	c := status.GetCondition(v1alpha1.PodAutoscalerConditionActive)
	return c.IsFalse() && c.Reason == reasonAbandoned
}

func timedOut(status *v1alpha1.PodAutoscalerStatus) bool {
	c := status.GetCondition(v1alpha1.PodAutoscalerConditionActive)
	return c.IsFalse() && c.Reason == decide.ReasonTimedOut
}

func messages(reason string) string {
	switch reason {
	case decide.ReasonTimedOut:
		return v1alpha1.MessageTimedOut
	case decide.ReasonQueued:
		return v1alpha1.MessageQueued
	}
	return v1alpha1.MessageNoTraffic
}

func activity(status *v1alpha1.PodAutoscalerStatus) decide.Activity {
	switch {
	case status.IsActive():
		return decide.Active
	case status.IsInactive():
		return decide.Inactive
	}
	return decide.Activating
}

// inActivity is how long the state has lasted, 0 where that is not known.
func inActivity(status *v1alpha1.PodAutoscalerStatus, now time.Time) time.Duration {
	return max(0, status.ActiveFor(now), status.InactiveFor(now), status.ActivatingFor(now))
}
