// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package kit proves the controller kit as authors use it: a typed reconciler
// in the seed's shape on generated code, run on fakes from end to end.
package kit

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	servingv1 "weir.dev/api/serving/v1"
	fakeclient "weir.dev/client/injection/client/fake"
	serviceinformer "weir.dev/client/injection/informers/serving/v1/service"
	_ "weir.dev/client/injection/informers/serving/v1/service/fake"
	servicereconciler "weir.dev/client/injection/reconciler/serving/v1/service"
	servinglisters "weir.dev/client/listers/serving/v1"
	"weir.dev/pkg/apis"
	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection"
	"weir.dev/pkg/logging"
	"weir.dev/pkg/reconciler"
	rtesting "weir.dev/pkg/reconciler/testing"
)

// Reconciler declares every Service ready.
type Reconciler struct {
	lister servinglisters.ServiceLister
	runs   *atomic.Int64
}

var (
	_ servicereconciler.Interface = (*Reconciler)(nil)
	_ servicereconciler.Finalizer = (*Reconciler)(nil)
)

// ReconcileKind implements servicereconciler.Interface.
func (r *Reconciler) ReconcileKind(_ context.Context, o *servingv1.Service) reconciler.Event {
	r.runs.Add(1)
	if _, err := r.lister.Services(o.Namespace).Get(o.Name); err != nil {
		return err
	}
	manager := o.GetConditionSet().Manage(o.GetStatus())
	for _, c := range o.Status.Conditions {
		manager.MarkTrue(c.Type)
	}
	return nil
}

// FinalizeKind implements servicereconciler.Finalizer.
func (r *Reconciler) FinalizeKind(_ context.Context, o *servingv1.Service) reconciler.Event {
	return reconciler.NewEvent(corev1.EventTypeNormal, "Finalized", "%s is done", o.Name)
}

// runsKey is where the context has the counter of reconciles.
type runsKey struct{}

// NewController is the seed's constructor.
func NewController(ctx context.Context, _ configmap.Watcher) *controller.Impl {
	logger := logging.FromContext(ctx)

	serviceInformer := serviceinformer.Get(ctx)

	r := &Reconciler{lister: serviceInformer.Lister(), runs: ctx.Value(runsKey{}).(*atomic.Int64)}
	impl := servicereconciler.NewImpl(ctx, r)

	logger.Info("Setting up event handlers")
	serviceInformer.Informer().AddEventHandler(controller.HandleAll(impl.Enqueue))
	return impl
}

// TestTypedReconciler follows one Service through its life: finalizer, status,
// then no write at all, finalization.
func TestTypedReconciler(t *testing.T) {
	ctx, cancel, informers := rtesting.SetupFakeContextWithCancel(t)
	runs := new(atomic.Int64)
	ctx = context.WithValue(ctx, runsKey{}, runs)
	impl, err := injection.Construct(ctx, NewController, configmap.NewStaticWatcher())
	if err != nil {
		t.Fatalf("Construct: %v", err)
	}
	wait, err := rtesting.RunAndSyncInformers(ctx, informers...)
	if err != nil {
		t.Fatalf("RunAndSyncInformers: %v", err)
	}
	done := make(chan error)
	go func() { done <- controller.StartAll(ctx, impl) }()

	client := fakeclient.Get(ctx)
	services := client.ServingV1().Services("ns")
	if _, err := services.Create(ctx, &servingv1.Service{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "hello", Generation: 1,
	}}, metav1.CreateOptions{}); err != nil {
		t.Fatalf("Create: %v", err)
	}
	lister := serviceinformer.Get(ctx).Lister().Services("ns")
	awaitThat(ctx, t, "the cache sees the Service ready", func() bool {
		svc, err := lister.Get("hello")
		return err == nil && svc.Status.GetCondition(apis.ConditionReady).IsTrue() && svc.Status.ObservedGeneration == 1
	})
	svc, _ := lister.Get("hello")
	if d := cmp.Diff([]string{"services.serving.knative.dev"}, svc.Finalizers); d != "" {
		t.Errorf("finalizers (-want +got):\n%s", d)
	}

	// Runs of one key follow each other, so that a second one has begun means that the first wrote all it wanted to.
	again := func() {
		before := runs.Load()
		impl.EnqueueKey(types.NamespacedName{Namespace: "ns", Name: "hello"})
		awaitThat(ctx, t, "it is reconciled again", func() bool { return runs.Load() > before })
	}
	again()
	before := writes(client)
	again()
	again()
	if d := cmp.Diff(before, writes(client)); d != "" {
		t.Errorf("writes although nothing changed (-want +got):\n%s", d)
	}

	deleted := svc.DeepCopy()
	now := metav1.Now()
	deleted.DeletionTimestamp = &now // an API server waits for the finalizers, the fake does not
	if _, err := services.Update(ctx, deleted, metav1.UpdateOptions{}); err != nil {
		t.Fatalf("Update: %v", err)
	}
	awaitThat(ctx, t, "the finalizer is gone", func() bool {
		svc, err := lister.Get("hello")
		return err == nil && len(svc.Finalizers) == 0
	})
	cancel()
	if err := <-done; err != nil {
		t.Errorf("StartAll: %v", err)
	}
	wait()

	// The test's own writes are create and update; the others are the
	// reconciler's. A run on a cache that is behind may write once more: an API server refuses that as a conflict,
	// the fake cannot. So kinds of writes are compared, not their number.
	want := []string{"create services", "patch services", "update services/status", "update services"}
	if d := cmp.Diff(want, distinct(writes(client))); d != "" {
		t.Errorf("writes (-want +got):\n%s", d)
	}
}

// distinct keeps the first of equal entries.
func distinct(list []string) []string {
	var out []string
	for _, x := range list {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

func writes(client rtesting.ActionRecorder) []string {
	var list []string
	for _, a := range client.Actions() {
		switch a.GetVerb() {
		case "get", "list", "watch":
			continue
		}
		target := a.GetResource().Resource
		if a.GetSubresource() != "" {
			target += "/" + a.GetSubresource()
		}
		list = append(list, a.GetVerb()+" "+target)
	}
	return list
}

// awaitThat polls; its bound only detects that nothing will happen.
func awaitThat(ctx context.Context, t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("it never came that %s", what)
		case <-ctx.Done():
			t.Fatal("the context ended")
		}
	}
}
