// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package failures

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"weir.dev/pkg/injection"
)

// TestConflictStorm writes things all the time that a controller reconciles:
// most of its writes are refused, or decided on what is no longer so. Each
// status is right in the end, though the storm goes on, and nobody is told of
// errors that are none.
func TestConflictStorm(t *testing.T) {
	t.Parallel()
	ctors := map[string]func() injection.ControllerConstructor{
		"Generic":   func() injection.ControllerConstructor { return newThingController(newCopier()) },
		"Generated": func() injection.ControllerConstructor { return newTypedController(newCopier()) },
	}
	for name, ctor := range ctors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testStorm(t, ctor())
		})
	}
}

func testStorm(t *testing.T, ctor injection.ControllerConstructor) {
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	namespace := newNamespace(ctx, t, suite.System.Config)
	things := newThingClient(t, suite.System.Config, namespace)
	c := start(scoped(ctx, namespace), t, suite.System.Config, ctor)
	const count, changes = 5, 20
	each(t, count, func(name string) error { return things.create(ctx, name, "0") })

	storm := startStorm(ctx, t, things, count)
	for change := range changes {
		each(t, count, func(name string) error { return things.set(ctx, name, strconv.Itoa(change+1)) })
	}
	reached := time.Now()
	things.allDone(ctx, t, count)
	t.Logf("every status was right %s after the last change", time.Since(reached))
	storm.end(t)
	things.allDone(ctx, t, count)

	for _, e := range c.errors() {
		t.Errorf("logged as an error: %s %v", e.Message, e.ContextMap())
	}
	t.Logf("%d outdated reads", c.logs.FilterMessageSnippet("outdated read").Len())
	noWarnings(ctx, t, namespace)
}

// noWarnings fails the test for events that tell users of trouble.
func noWarnings(ctx context.Context, t *testing.T, namespace string) {
	t.Helper()
	events, err := suite.System.Kube.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events.Items {
		if e.Type == corev1.EventTypeWarning {
			t.Errorf("event on %s: %s %s", e.InvolvedObject.Name, e.Reason, e.Message)
		}
	}
}

// storm is somebody who writes each thing all the time.
type storm struct {
	stop   context.CancelFunc
	ended  sync.WaitGroup
	mu     sync.Mutex
	writes int
	err    error
}

func startStorm(ctx context.Context, t *testing.T, things thingClient, count int) *storm {
	s := &storm{}
	ctx, s.stop = context.WithCancel(ctx)
	each(t, count, func(name string) error {
		s.ended.Go(func() {
			for ctx.Err() == nil {
				s.note(ctx, things.annotate(ctx, name, time.Now().String()))
			}
		})
		return nil
	})
	t.Cleanup(s.stop)
	return s
}

func (s *storm) note(ctx context.Context, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	if err != nil && ctx.Err() == nil {
		s.err = err
	}
}

func (s *storm) end(t *testing.T) {
	t.Helper()
	s.stop()
	s.ended.Wait()
	t.Logf("%d writes by somebody else", s.writes)
	if s.err != nil {
		t.Errorf("the storm itself failed: %v", s.err)
	}
}
