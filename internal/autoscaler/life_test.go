// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package autoscaler

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"weir.dev/api/autoscaling"
	"weir.dev/internal/feed/feedpb"
)

const (
	yes     = corev1.ConditionTrue
	no      = corev1.ConditionFalse
	unknown = corev1.ConditionUnknown
)

var short = map[string]string{"window": "6s"}

// TestToZeroAndBack is the whole life of a revision with a window of 6 s and a grace period of 5 s.
func TestToZeroAndBack(t *testing.T) {
	run(t, short, 1, func(w *world) {
		w.after(4*time.Second, "a start is held, whatever the load", 1, unknown, "Queued")
		w.pods("a")
		w.after(0, "its first instance makes it active at once", 1, yes, "")
		w.load("g", 1)
		w.after(20*time.Second, "under load", 1, yes, "")
		w.load("g", 0)
		w.after(5*time.Second, "within the window", 1, yes, "")
		w.after(4*time.Second, "a window without requests", 1, no, "NoTraffic")
		w.after(5*time.Second, "and the grace period", 0, no, "NoTraffic")
		w.pods()
		w.after(time.Hour, "stays there", 0, no, "NoTraffic")

		w.poke(1)
		w.after(0, "a wake-up waits for nothing", 1, unknown, "Queued")
		w.load("g", 1)
		w.after(3*time.Second, "still starting", 1, unknown, "Queued")
		w.pods("b")
		w.after(0, "back", 1, yes, "")
	})
}

func TestBusyHoldsTheLastInstance(t *testing.T) {
	run(t, short, 1, func(w *world) {
		w.pods("a")
		w.after(20*time.Second, "idle", 0, no, "NoTraffic")
	})
	run(t, short, 1, func(w *world) {
		w.pods("a")
		w.say("g", &feedpb.RevisionStats{InFlight: 1}) // a request that no average shows
		w.after(time.Hour, "a request in hand", 1, yes, "")
	})
}

func TestBurstFromZero(t *testing.T) {
	annotations := map[string]string{"initial-scale": "0", "target": "10", "target-utilization-percentage": "100"}
	run(t, annotations, 0, func(w *world) {
		w.after(3*time.Second, "at zero", 0, no, "NoTraffic")
		w.poke(1)
		w.poke(45)
		w.after(0, "as many as the waiting requests need", 5, unknown, "Queued")
	})
}

func TestScaleUpAndDown(t *testing.T) {
	run(t, map[string]string{"target": "10", "target-utilization-percentage": "100", "max-scale": "4"}, 1, func(w *world) {
		w.pods("a")
		w.load("g", 15)
		w.load("h", 15)
		w.after(8*time.Second, "the gateways' loads add up, and the short window sees them", 3, yes, "")
		w.pods("a", "b", "c")
		w.load("g", 100)
		w.after(8*time.Second, "not above the maximum", 4, yes, "")
		w.pods("a", "b", "c", "d")
		w.load("g", 5)
		w.load("h", 0)
		w.after(30*time.Second, "no decrease in a panic", 4, yes, "")
		w.say("g", &feedpb.RevisionStats{AverageConcurrency: 5, InFlight: 5, Loads: []*feedpb.InstanceLoad{{Uid: "a", InFlight: 5}}})
		w.after(90*time.Second, "lower, by a factor of 2 at most while four are ready", 2, yes, "")
		for name, want := range map[string]string{"a": "", "b": "-1"} {
			pod, err := w.kube.CoreV1().Pods("ns").Get(w.ctx, name, metav1.GetOptions{})
			w.check(err)
			if got := pod.Annotations[corev1.PodDeletionCost]; got != want {
				t.Errorf("deletion cost of pod %s is %q, want %q: the busy one stays", name, got, want)
			}
		}
	})
}

func TestMinScaleNeedsNoFigures(t *testing.T) {
	run(t, map[string]string{"min-scale": "3"}, 1, func(w *world) {
		w.say("g", nil)
		w.after(0, "no gateway yet", 3, unknown, "Queued")
		w.pods("a", "b", "c")
		w.after(time.Hour, "and for ever", 3, yes, "")
	})
}

func TestInitialScale(t *testing.T) {
	run(t, map[string]string{"initial-scale": "2", "window": "6s"}, 2, func(w *world) {
		w.pods("a")
		w.after(5*time.Second, "one of two", 2, unknown, "Queued")
		w.pods("a", "b")
		w.after(0, "both", 2, yes, "")
		w.after(5*time.Second, "for a window, in which its requests may come", 2, yes, "")
		w.after(4*time.Second, "afterwards it does not count", 1, yes, "")
		w.pods("a")
		w.after(10*time.Second, "and none is left", 0, no, "NoTraffic")
	})
}

func TestNoFiguresNoDecrease(t *testing.T) {
	run(t, short, 1, func(w *world) {
		w.pods("a")
		w.load("g", 1)
		w.after(20*time.Second, "under load", 1, yes, "")
		w.autoscaler.Disconnected("g")
		w.say("g", nil)
		w.after(time.Hour, "without gateways nothing is known", 1, yes, "")
		w.load("g", 0)
		w.after(5*time.Second, "and not for a window afterwards", 1, yes, "")
		w.after(10*time.Second, "then as usual", 0, no, "NoTraffic")
	})
}

func TestStartGivenUp(t *testing.T) {
	run(t, short, 1, func(w *world) {
		w.after(89*time.Second, "progress deadline and 30 s", 1, unknown, "Queued")
		w.after(3*time.Second, "are over", 0, no, "TimedOut")
		w.poke(1)
		w.after(0, "each request deserves another attempt", 1, unknown, "Queued")
	})
}

// A revision that was superseded before it was ready is started again when somebody wants it after all.
func TestAbandonedAndResumed(t *testing.T) {
	run(t, short, 1, func(w *world) {
		w.after(5*time.Second, "on its way", 1, unknown, "Queued")
		w.annotate(autoscaling.AbandonedAnnotationKey, "true")
		w.after(5*time.Second, "nobody waits for it", 0, no, "Abandoned")
		n := w.writes()
		w.after(time.Hour, "and it stays so", 0, no, "Abandoned")
		if got := w.writes(); got != n {
			t.Errorf("%d writes in the meantime, want none", got-n)
		}
		w.annotate(autoscaling.AbandonedAnnotationKey, "")
		w.after(5*time.Second, "somebody does", 1, unknown, "Queued")
		w.pods("a")
		w.after(0, "and it is up", 1, yes, "")
	})
}

func TestSettled(t *testing.T) {
	run(t, short, 1, func(w *world) {
		w.pods("a")
		w.load("g", 1)
		w.after(20*time.Second, "under load", 1, yes, "")
		before := w.writes()
		w.after(time.Minute, "the same load", 1, yes, "")
		if after := w.writes(); after != before {
			t.Errorf("%d writes though nothing changed", after-before)
		}
	})
}
