// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func (w *world) drained(ctx context.Context) chan time.Duration {
	done := make(chan time.Duration, 1)
	began := time.Now()
	go func() {
		if w.Drained(ctx, "default", "revision") == nil {
			done <- time.Since(began)
		}
		close(done)
	}()
	synctest.Wait()
	return done
}

func TestDrained(t *testing.T) {
	tests := map[string]struct {
		reason string
		run    func(t *testing.T, w *world)
	}{
		"Idle": {"an idle instance is let go at once", func(t *testing.T, w *world) {
			w.instances(at("a", Terminating), at("b", Ready))
			if d := <-w.drained(t.Context()); d != 0 {
				t.Errorf("after %v", d)
			}
		}},
		"Busy": {"a busy one when its request is done, whatever others have in hand", func(t *testing.T, w *world) {
			w.instances(at("a", Ready))
			first := <-w.acquire(t.Context())
			w.instances(at("b", Ready), at("a", Terminating))
			second := <-w.acquire(t.Context())
			if second.Instance() != "b" {
				t.Fatalf("a request went to %s", second.Instance())
			}
			done := w.drained(t.Context())
			time.Sleep(time.Minute)
			first.Release()
			if d := <-done; d != time.Minute {
				t.Errorf("after %v", d)
			}
			second.Release()
		}},
		"FeedIsLate": {"the feed has a second to name the instance", func(t *testing.T, w *world) {
			w.instances(at("a", Ready))
			held := <-w.acquire(t.Context())
			done := w.drained(t.Context())
			time.Sleep(300 * time.Millisecond)
			w.instances(at("a", Terminating))
			time.Sleep(5 * time.Second)
			held.Release()
			if d := <-done; d != 5300*time.Millisecond {
				t.Errorf("after %v", d)
			}
		}},
		"NeverNamed": {"and no more", func(t *testing.T, w *world) {
			if d := <-w.drained(t.Context()); d != time.Second {
				t.Errorf("after %v", d)
			}
		}},
		"TwoInstances": {"each asker takes one instance as its own", func(t *testing.T, w *world) {
			w.instances(at("a", Terminating))
			if d := <-w.drained(t.Context()); d != 0 {
				t.Errorf("the first after %v", d)
			}
			done := w.drained(t.Context())
			time.Sleep(500 * time.Millisecond)
			w.instances(at("a", Terminating), at("b", Terminating))
			if d := <-done; d != 500*time.Millisecond {
				t.Errorf("the second after %v", d)
			}
		}},
		"RevisionDeleted": {"its requests in hand count on", func(t *testing.T, w *world) {
			w.instances(at("a", Ready))
			held := <-w.acquire(t.Context())
			w.Unhold(w.b)
			w.Remove(name)
			w.Each(func(*Backend) {})
			done := w.drained(t.Context())
			time.Sleep(10 * time.Second)
			held.Release()
			if d := <-done; d != 10*time.Second {
				t.Errorf("after %v", d)
			}
			w.Each(func(*Backend) { t.Error("the backend is still there") })
		}},
		"AskerLeaves": {"", func(t *testing.T, w *world) {
			w.instances(at("a", Ready))
			held := <-w.acquire(t.Context())
			w.instances(at("a", Terminating))
			ctx, cancel := context.WithCancel(t.Context())
			done := w.drained(ctx)
			cancel()
			if _, ok := <-done; ok {
				t.Error("drained")
			}
			held.Release()
		}},
	}
	for n, test := range tests {
		t.Run(n, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, Spec{}, nil)
				defer w.Close()
				test.run(t, w)
			})
		})
	}
}

func TestDirectives(t *testing.T) {
	w := newWorld(t, Spec{}, nil)
	w.instances(at("a", Ready), at("b", Ready))
	w.Drain("1", []string{"a", "c"})
	for range 20 {
		if i := w.b.choose(); i.uid != "b" {
			t.Fatalf("%s is chosen", i.uid)
		}
	}
	w.instances(at("c", Ready))
	if w.b.choose() != nil {
		t.Error("an instance that came later is chosen though it was asked to be idle")
	}
	w.Drain("1", nil)
	if w.b.choose() == nil {
		t.Error("the directive was taken back")
	}
}

// A namesake of a revision starts with nothing of it; what the old one has in hand is its own.
func TestNamesake(t *testing.T) {
	w := newWorld(t, Spec{Concurrency: 1}, nil)
	w.instances(at("a", Ready))
	held := <-w.acquire(t.Context())
	w.Update(name, &Spec{UID: "other", Concurrency: 1})
	w.instances(at("b", Ready))
	next := <-w.acquire(t.Context())
	if next.Instance() != "b" {
		t.Errorf("%s", next.Instance())
	}
	if _, inHand := w.terminating("default", "revision", false); inHand != 1 {
		t.Errorf("%d in hand of the old one", inHand)
	}
	held.Release()
	next.Release()
	if len(w.b.instances) != 1 {
		t.Errorf("%d instances", len(w.b.instances))
	}
}
