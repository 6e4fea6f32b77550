// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package surface_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"weir.dev/pkg/controller"
	"weir.dev/pkg/kmeta"
	logtesting "weir.dev/pkg/logging/testing"
	"weir.dev/pkg/reconciler"
	rtesting "weir.dev/pkg/reconciler/testing"
)

// newImpl makes a controller that nobody runs: its queue shows what is enqueued.
func newImpl(t *testing.T) *controller.Impl {
	impl := controller.NewContext(logtesting.TestContextWithLogger(t), reconcilerFunc(nil), controller.ControllerOptions{
		WorkQueueName: "queue", Logger: logtesting.TestLogger(t),
	})
	t.Cleanup(impl.WorkQueue().ShutDown)
	return impl
}

// enqueued takes n keys out of the queue.
func enqueued(impl *controller.Impl, n int) []types.NamespacedName {
	var keys []types.NamespacedName
	for range n {
		item, _ := impl.WorkQueue().Get()
		impl.WorkQueue().Done(item)
		keys = append(keys, item.(types.NamespacedName))
	}
	return keys
}

func TestEnqueue(t *testing.T) {
	owned := pod("child")
	owned.Labels = map[string]string{"name": "labelled", "namespace": "other"}
	owned.OwnerReferences = []metav1.OwnerReference{*kmeta.NewControllerRef(service("owner"))}
	tests := map[string]struct {
		enqueue func(*controller.Impl)
		want    types.NamespacedName
	}{
		"Object":         {func(i *controller.Impl) { i.Enqueue(owned) }, key("ns", "child")},
		"Tombstone":      {func(i *controller.Impl) { i.Enqueue(cache.DeletedFinalStateUnknown{Key: "ns/child", Obj: owned}) }, key("ns", "child")},
		"After":          {func(i *controller.Impl) { i.EnqueueAfter(owned, time.Millisecond) }, key("ns", "child")},
		"Slow":           {func(i *controller.Impl) { i.EnqueueSlow(owned) }, key("ns", "child")},
		"SlowKey":        {func(i *controller.Impl) { i.EnqueueSlowKey(key("ns", "slow")) }, key("ns", "slow")},
		"Key":            {func(i *controller.Impl) { i.EnqueueKey(key("ns", "key")) }, key("ns", "key")},
		"KeyAfter":       {func(i *controller.Impl) { i.EnqueueKeyAfter(key("ns", "later"), time.Millisecond) }, key("ns", "later")},
		"ControllerOf":   {func(i *controller.Impl) { i.EnqueueControllerOf(owned) }, key("ns", "owner")},
		"Labels":         {func(i *controller.Impl) { i.EnqueueLabelOfNamespaceScopedResource("namespace", "name")(owned) }, key("other", "labelled")},
		"LabelOfOwn":     {func(i *controller.Impl) { i.EnqueueLabelOfNamespaceScopedResource("", "name")(owned) }, key("ns", "labelled")},
		"LabelOfCluster": {func(i *controller.Impl) { i.EnqueueLabelOfClusterScopedResource("name")(owned) }, key("", "labelled")},
		"NamespaceOf":    {func(i *controller.Impl) { i.EnqueueNamespaceOf(owned) }, key("", "ns")},
		"Sentinel":       {func(i *controller.Impl) { i.EnqueueSentinel(key("", "only"))(owned) }, key("", "only")},
		"Bucket":         {func(i *controller.Impl) { i.MaybeEnqueueBucketKey(reconciler.UniversalBucket(), key("ns", "b")) }, key("ns", "b")},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			impl := newImpl(t)
			tc.enqueue(impl)
			if d := cmp.Diff([]types.NamespacedName{tc.want}, enqueued(impl, 1)); d != "" {
				t.Errorf("keys (-want +got):\n%s", d)
			}
			if n := impl.WorkQueue().Len(); n != 0 {
				t.Errorf("%d more keys", n)
			}
		})
	}
}

// TestLanes: what nobody waits for comes last.
func TestLanes(t *testing.T) {
	impl := newImpl(t)
	informer := podInformer(t, pod("resynced"), pod("unwanted"))
	impl.FilteredGlobalResync(controller.FilterWithName("resynced"), informer)
	impl.EnqueueKey(key("ns", "changed"))
	want := []types.NamespacedName{key("ns", "changed"), key("ns", "resynced")}
	if d := cmp.Diff(want, enqueued(impl, 2)); d != "" {
		t.Errorf("keys (-want +got):\n%s", d)
	}
	impl.GlobalResync(informer)
	if got := enqueued(impl, 2); got[0] == got[1] {
		t.Errorf("want both pods, got %v", got)
	}
}

func podInformer(t *testing.T, pods ...*corev1.Pod) cache.SharedIndexInformer {
	t.Helper()
	informer := informers.NewSharedInformerFactory(fake.NewClientset(), 0).Core().V1().Pods().Informer()
	for _, p := range pods {
		if err := informer.GetStore().Add(p); err != nil {
			t.Fatal(err)
		}
	}
	return informer
}

// TestOptions: a controller is what its options and its context say.
func TestOptions(t *testing.T) {
	tracker := &rtesting.FakeTracker{}
	ctx := controller.WithTracker(t.Context(), tracker)
	options := controller.ControllerOptions{
		WorkQueueName: "queue",
		Logger:        zap.NewNop().Sugar(),
		RateLimiter:   workqueue.DefaultTypedControllerRateLimiter[any](),
		Concurrency:   7,
	}
	r := reconcilerFunc(func(context.Context, string) error { return nil })
	impl := controller.NewContext(ctx, r, options)
	defer impl.WorkQueue().ShutDown()
	if impl.Name != "queue" || impl.Concurrency != 7 || impl.Tracker != tracker || impl.Reconciler == nil {
		t.Errorf("got %+v", impl)
	}
	plain := controller.NewContext(t.Context(), r, controller.ControllerOptions{WorkQueueName: "plain", Logger: options.Logger})
	defer plain.WorkQueue().ShutDown()
	if plain.Concurrency != controller.DefaultThreadsPerController || plain.Tracker == nil {
		t.Errorf("got %d threads and the tracker %v", plain.Concurrency, plain.Tracker)
	}
	if controller.DefaultThreadsPerController != 2 {
		t.Errorf("%d threads", controller.DefaultThreadsPerController)
	}
}

func TestControllerContext(t *testing.T) {
	ctx := t.Context()
	if got := controller.GetResyncPeriod(ctx); got != 10*time.Hour {
		t.Errorf("resync period is %v", got)
	}
	if got := controller.GetTrackerLease(ctx); got != 30*time.Hour {
		t.Errorf("lease is %v, want three periods", got)
	}
	if controller.GetTracker(ctx) != nil || controller.GetEventRecorder(ctx) != nil {
		t.Error("a context has neither by itself")
	}
	ctx, _ = rtesting.SetupFakeContext(t)
	ctx = controller.WithTracker(controller.WithResyncPeriod(ctx, time.Minute), &rtesting.FakeTracker{})
	if controller.GetResyncPeriod(ctx) != time.Minute || controller.GetTrackerLease(ctx) != 3*time.Minute {
		t.Error("the period is what was given")
	}
	ctx = controller.WithEventRecorder(ctx, controller.GetEventRecorder(ctx))
	if controller.GetTracker(ctx) == nil || controller.GetEventRecorder(ctx) == nil {
		t.Error("they are what was given")
	}
}

// TestRun: what becomes of a key by what its run returned.
func TestRun(t *testing.T) {
	failure := errors.New("failure")
	tests := map[string]struct {
		first error
		again bool
	}{
		"Done":        {nil, false},
		"Permanent":   {controller.NewPermanentError(failure), false},
		"Skipped":     {controller.NewSkipKey("ns/key"), false},
		"Immediately": {controller.NewRequeueImmediately(), true},
		"After":       {controller.NewRequeueAfter(time.Millisecond), true},
		"Wrapped":     {fmt.Errorf("why: %w", controller.NewRequeueAfter(time.Millisecond)), true},
		"Failed":      {failure, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(logtesting.TestContextWithLogger(t))
			defer cancel()
			var runs, last atomic.Int32
			impl := controller.NewContext(ctx, reconcilerFunc(func(_ context.Context, k string) error {
				if k == "last" {
					last.Add(1)
					return nil
				}
				if runs.Add(1) == 1 {
					return tc.first
				}
				return nil
			}), controller.ControllerOptions{WorkQueueName: "queue", Logger: logtesting.TestLogger(t), Concurrency: 1})
			ended := make(chan error, 1)
			go func() { ended <- impl.RunContext(ctx, 1) }()
			impl.EnqueueKey(key("ns", "key"))
			if tc.again {
				await(t, "it runs again", func() bool { return runs.Load() == 2 })
			}
			await(t, "it runs", func() bool { return runs.Load() > 0 })
			impl.EnqueueKey(key("", "last")) // its key has no namespace
			await(t, "the next key runs", func() bool { return last.Load() == 1 })
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("RunContext: %v", err)
			}
			if got := runs.Load() > 1; got != tc.again {
				t.Errorf("%d runs", runs.Load())
			}
		})
	}
}
