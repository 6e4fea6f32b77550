// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package failures

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestPanic: an object that the reconciler cannot stand harms no other. Who
// looks at it finds an event, and it is tried again, ever later, until it is
// mended.
func TestPanic(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	namespace := newNamespace(ctx, t, suite.System.Config)
	things := newThingClient(t, suite.System.Config, namespace)
	tries, r := newTries(), newCopier()
	r.before = func(o *Thing) error {
		if o.Spec.Value == "bad" {
			tries.add()
			var none *Thing
			_ = none.Spec.Value // what authors do
		}
		return nil
	}
	c := start(scoped(ctx, namespace), t, suite.System.Config, newThingController(r))

	if err := things.create(ctx, "bad", "bad"); err != nil {
		t.Fatal(err)
	}
	await(ctx, t, "it is tried again and again", func(context.Context) (bool, error) { return tries.count() >= 8, nil })
	const count = 10
	each(t, count, func(name string) error { return things.create(ctx, name, "good") })
	each(t, count, func(name string) error {
		await(ctx, t, name+" is reconciled", func(context.Context) (bool, error) { return r.runsOf(name) > 0, nil })
		return nil
	})
	tries.check(t)
	awaitEvent(ctx, t, namespace, "bad", "InternalError", "panicked")

	if err := things.set(ctx, "bad", "good"); err != nil {
		t.Fatal(err)
	}
	things.allDone(ctx, t, count+1)
	c.mustRun(t)
}

// awaitEvent waits for a Warning on a thing.
func awaitEvent(ctx context.Context, t *testing.T, namespace, thing, reason, says string) {
	t.Helper()
	await(ctx, t, "there is an event "+reason, func(ctx context.Context) (bool, error) {
		events, err := suite.System.Kube.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=" + thing})
		if err != nil {
			return false, err
		}
		for _, e := range events.Items {
			if e.Type == corev1.EventTypeWarning && e.Reason == reason && e.InvolvedObject.Kind == things.Kind && strings.Contains(e.Message, says) {
				return true, nil
			}
		}
		return false, fmt.Errorf("there are %d others", len(events.Items))
	})
}

// tries are the times of attempts.
type tries struct {
	mu sync.Mutex
	at []time.Time
}

func newTries() *tries { return &tries{} }

func (s *tries) add() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = append(s.at, time.Now())
}

func (s *tries) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.at)
}

// check fails the test unless attempts come ever later: the queue doubles the
// time from 5 ms on, and never makes it shorter.
func (s *tries) check(t *testing.T) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, least := 2, 10*time.Millisecond; i < len(s.at); i, least = i+1, 2*least {
		if got := s.at[i].Sub(s.at[i-1]); got < least*9/10 {
			t.Errorf("attempt %d came %s after the one before, want %s at least", i+1, got, least)
		}
	}
}
