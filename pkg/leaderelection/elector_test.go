// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package leaderelection

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clientgotesting "k8s.io/client-go/testing"

	"weir.dev/pkg/reconciler"
	"weir.dev/pkg/system"
)

func ignore(reconciler.Bucket, types.NamespacedName) {}

var someKey = types.NamespacedName{Namespace: "ns", Name: "name"}

// replica is one of several that compete.
type replica struct {
	reconciler.LeaderAwareFuncs
	stop context.CancelFunc
	done sync.WaitGroup
}

func startReplica(t *testing.T, kc *fake.Clientset, identity string) *replica {
	t.Helper()
	config := defaultConfig().GetComponentConfig("Component")
	config.Identity = identity
	ctx := system.WithNamespace(t.Context(), "system")
	ctx, cancel := context.WithCancel(WithStandardLeaderElectorBuilder(ctx, kc, config))
	r := &replica{stop: cancel}
	elector, err := BuildElector(ctx, r, "Some.Queue", ignore)
	if err != nil {
		t.Fatalf("BuildElector: %v", err)
	}
	r.done.Go(func() { elector.Run(ctx) })
	return r
}

func (r *replica) end() {
	r.stop()
	r.done.Wait()
}

// TestHandover: a replica that stops in order releases its lease, and another
// leads within a retry period or two.
func TestHandover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kc := fake.NewSimpleClientset()
		one := startReplica(t, kc, "one")
		time.Sleep(time.Second)
		two := startReplica(t, kc, "two")
		time.Sleep(10 * time.Second)
		if !one.IsLeaderFor(someKey) || two.IsLeaderFor(someKey) {
			t.Fatal("want the first to lead alone")
		}
		if _, err := kc.Tracker().Get(leases, "system", "component.some.queue.00-of-01"); err != nil {
			t.Errorf("the lease is not where it should be: %v", err)
		}
		one.end()
		if one.IsLeaderFor(someKey) {
			t.Error("the first leads after its end")
		}
		time.Sleep(2500 * time.Millisecond)
		if !two.IsLeaderFor(someKey) {
			t.Error("the second does not lead after the first has released its lease")
		}
		two.end()
	})
}

// TestLoss: a replica that cannot renew stops to lead before its lease ends,
// and competes again.
func TestLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kc := fake.NewSimpleClientset()
		var mu sync.Mutex
		broken := false
		kc.PrependReactor("*", "leases", func(clientgotesting.Action) (bool, runtime.Object, error) {
			mu.Lock()
			defer mu.Unlock()
			if broken {
				return true, nil, errors.New("no way to the server")
			}
			return false, nil, nil
		})
		set := func(b bool) { mu.Lock(); broken = b; mu.Unlock() }

		r := startReplica(t, kc, "one")
		defer r.end()
		time.Sleep(time.Second)
		if !r.IsLeaderFor(someKey) {
			t.Fatal("want the only one to lead")
		}
		set(true)
		time.Sleep(7500 * time.Millisecond) // the lease is of 8 seconds
		if r.IsLeaderFor(someKey) {
			t.Error("it leads though it could not renew")
		}
		set(false)
		time.Sleep(5 * time.Second)
		if !r.IsLeaderFor(someKey) {
			t.Error("it does not compete again")
		}
	})
}

// TestUnopposed: without a builder everything is led from the start to the end.
func TestUnopposed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		r := &replica{}
		elector, err := BuildElector(ctx, r, "queue", ignore)
		if err != nil {
			t.Fatal(err)
		}
		r.done.Go(func() { elector.Run(ctx) })
		synctest.Wait()
		if HasLeaderElection(ctx) || !r.IsLeaderFor(someKey) {
			t.Error("want no election, and to lead")
		}
		cancel()
		r.done.Wait()
		if r.IsLeaderFor(someKey) {
			t.Error("it leads after the end")
		}
	})
}

// TestTermOrder: a beginning that client-go announces after the end is none.
func TestTermOrder(t *testing.T) {
	r := &replica{}
	term := newTerm(t.Context(), r, reconciler.UniversalBucket(), ignore)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	term.end()
	term.begin(ctx)
	if r.IsLeaderFor(someKey) {
		t.Error("it leads after its end")
	}
}
