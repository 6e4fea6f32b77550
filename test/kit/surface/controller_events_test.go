// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package surface_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/kmeta"
	logtesting "weir.dev/pkg/logging/testing"
	"weir.dev/pkg/reconciler"
)

// options are all that a generated reconciler can be told.
var _ controller.OptionsFn = func(*controller.Impl) controller.Options {
	return controller.Options{
		ConfigStore:                     reconciler.ConfigStores{},
		FinalizerName:                   "finalizer.example.com",
		UseServerSideApplyForFinalizers: true,
		FinalizerFieldManager:           "manager",
		ForceApplyFinalizers:            true,
		AgentName:                       "agent",
		SkipStatusUpdates:               true,
		DemoteFunc:                      func(reconciler.Bucket) {},
		PromoteFunc:                     func(reconciler.Bucket) {},
		PromoteFilterFunc:               func(interface{}) bool { return true },
		Concurrency:                     2,
	}
}

func TestErrors(t *testing.T) {
	cause := errors.New("cause")
	permanent := fmt.Errorf("wrapped: %w", controller.NewPermanentError(cause))
	if !controller.IsPermanentError(permanent) || !errors.Is(permanent, cause) || controller.IsPermanentError(cause) {
		t.Error("a permanent error is one, wrapped too, and wraps its cause")
	}
	if skip := controller.NewSkipKey("ns/name"); !controller.IsSkipKey(skip) || controller.IsSkipKey(cause) || controller.IsPermanentError(skip) {
		t.Error("a skipped key is that alone")
	}
	tests := map[string]struct {
		err   error
		want  bool
		delay time.Duration
	}{
		"Immediately": {controller.NewRequeueImmediately(), true, 0},
		"After":       {controller.NewRequeueAfter(time.Minute), true, time.Minute},
		"Wrapped":     {fmt.Errorf("wrapped: %w", controller.NewRequeueAfter(time.Minute)), true, time.Minute},
		"Other":       {cause, false, 0},
		"None":        {nil, false, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if ok, delay := controller.IsRequeueKey(tc.err); ok != tc.want || delay != tc.delay {
				t.Errorf("IsRequeueKey: %v, %v", ok, delay)
			}
		})
	}
}

func TestControllerFilters(t *testing.T) {
	kind := (&servingv1.Service{}).GetGroupVersionKind()
	child, orphan := pod("child"), pod("orphan")
	child.OwnerReferences = []metav1.OwnerReference{*kmeta.NewControllerRef(service("owner"))}
	tests := map[string]struct {
		filter        func(interface{}) bool
		child, orphan bool
	}{
		"GroupKind":    {controller.FilterControllerGK(kind.GroupKind()), true, false},
		"OtherKind":    {controller.FilterControllerGK(schema.GroupKind{Group: kind.Group, Kind: "Other"}), false, false},
		"Version":      {controller.FilterControllerGVK(kind), true, false},
		"OtherVersion": {controller.FilterControllerGVK(kind.GroupKind().WithVersion("v0")), false, false},
		"Owner":        {controller.FilterController(&servingv1.Service{}), true, false},
		"Name":         {controller.FilterWithName("orphan"), false, true},
		"Both":         {controller.FilterWithNameAndNamespace("ns", "child"), true, false},
		"OtherPlace":   {controller.FilterWithNameAndNamespace("other", "child"), false, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.filter(child); got != tc.child {
				t.Errorf("the child: %v", got)
			}
			if got := tc.filter(cache.DeletedFinalStateUnknown{Obj: child}); got != tc.child {
				t.Errorf("the child's tombstone: %v", got)
			}
			if got := tc.filter(orphan); got != tc.orphan {
				t.Errorf("the orphan: %v", got)
			}
			if tc.filter("no object") {
				t.Error("it wants what is no object")
			}
		})
	}
}

func TestHandlers(t *testing.T) {
	var got []interface{}
	handler := controller.HandleAll(func(obj interface{}) { got = append(got, obj) })
	handler.OnAdd("added", false)
	handler.OnUpdate("old", "new")
	handler.OnDelete("deleted")
	controller.PassNew(func(obj interface{}) { got = append(got, obj) })("old", "passed")
	if fmt.Sprint(got) != "[added new deleted passed]" {
		t.Errorf("got %v", got)
	}
	plain := pod("plain")
	plain.TypeMeta = metav1.TypeMeta{}
	kind := corev1.SchemeGroupVersion.WithKind("Pod")
	var callback controller.Callback = func(obj interface{}) {
		if seen := obj.(*corev1.Pod); seen.GroupVersionKind() != kind || seen == plain {
			t.Errorf("want a copy with its kind, got %+v", seen.TypeMeta)
		}
		got = nil
	}
	if controller.EnsureTypeMeta(callback, kind)(plain); got != nil {
		t.Error("the callback was not called")
	}
	if plain.Kind != "" {
		t.Error("what the informer holds must not change")
	}
}

// TestInformers: caches are in sync when starting returns, and all has ended
// when the wait does.
func TestInformers(t *testing.T) {
	stop := make(chan struct{})
	newInformer := func() cache.SharedIndexInformer {
		return informers.NewSharedInformerFactory(fake.NewClientset(pod("there")), 0).Core().V1().Pods().Informer()
	}
	started, run := newInformer(), newInformer()
	if err := controller.StartInformers(stop, started); err != nil || !started.HasSynced() {
		t.Errorf("StartInformers: %v, synced: %v", err, started.HasSynced())
	}
	wait, err := controller.RunInformers(stop, run)
	if err != nil || len(run.GetStore().List()) != 1 {
		t.Errorf("RunInformers: %v, cached: %v", err, run.GetStore().List())
	}
	if !controller.WaitForCacheSyncQuick(stop, started.HasSynced, run.HasSynced) {
		t.Error("both have synced")
	}
	close(stop)
	wait()
	if !run.IsStopped() {
		t.Error("the informer has ended")
	}
	if controller.WaitForCacheSyncQuick(stop, func() bool { return false }) {
		t.Error("it never synced")
	}
}

func TestStartAll(t *testing.T) {
	ctx, cancel := context.WithCancel(logtesting.TestContextWithLogger(t))
	worked := make(chan string)
	newController := func(name string) *controller.Impl {
		impl := controller.NewContext(ctx, reconcilerFunc(func(context.Context, string) error {
			worked <- name
			return nil
		}), controller.ControllerOptions{WorkQueueName: name, Logger: logtesting.TestLogger(t)})
		impl.EnqueueKey(key("ns", "key"))
		return impl
	}
	ended := make(chan error, 2)
	go func() { ended <- controller.StartAll(ctx, newController("one"), newController("two")) }()
	alone := newController("three")
	go func() { ended <- alone.Run(ctx) }()
	seen := map[string]bool{<-worked: true, <-worked: true, <-worked: true}
	cancel()
	for range cap(ended) {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if len(seen) != 3 {
		t.Errorf("worked: %v", seen)
	}
}
