// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package generic_test

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/rest"

	"weir.dev/pkg/apis"
	duckv1 "weir.dev/pkg/apis/duck/v1"
	_ "weir.dev/pkg/client/injection/kube/client/fake"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection"
	"weir.dev/pkg/injection/clients/dynamicclient"
	"weir.dev/pkg/reconciler"
	"weir.dev/pkg/reconciler/generic"
)

// things have no Go type but the shape that all kinds with conditions share.
var things = generic.Kind[*duckv1.KResource]{Group: "test.weir.dev", Version: "v1", Kind: "Thing"}

// thingReconciler is in the seed's shape, for a kind without generated code.
type thingReconciler struct {
	lister generic.Lister[*duckv1.KResource]
}

func (r *thingReconciler) ReconcileKind(_ context.Context, o *duckv1.KResource) reconciler.Event {
	if _, err := r.lister.Get(o.Namespace, o.Name); err != nil {
		return err
	}
	o.GetConditionSet().Manage(o.GetStatus()).MarkTrue(apis.ConditionReady)
	return nil
}

func (r *thingReconciler) FinalizeKind(context.Context, *duckv1.KResource) reconciler.Event {
	return nil
}

func newThingController(ctx context.Context) *controller.Impl {
	impl := generic.For(ctx, things, &thingReconciler{lister: things.Lister(ctx)})
	if _, err := things.Informer(ctx).AddEventHandler(controller.HandleAll(impl.Enqueue)); err != nil {
		panic(err)
	}
	return impl
}

// newContext has a set of fakes whose API holds a thing.
func newContext(t *testing.T) (context.Context, []controller.Informer, dynamic.ResourceInterface) {
	t.Helper()
	client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{things.Resource(): "ThingList"},
		&unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "test.weir.dev/v1", "kind": "Thing",
			"metadata": map[string]any{"namespace": "ns", "name": "a", "generation": int64(3)},
			"spec":     map[string]any{"kept": "although no Go type has it"},
			"status":   map[string]any{"address": map[string]any{"url": "http://a"}},
		}})
	ctx := context.WithValue(t.Context(), dynamicclient.Key{}, dynamic.Interface(client))
	ctx, informers := injection.Fake.SetupInformers(ctx, &rest.Config{})
	return ctx, informers, client.Resource(things.Resource()).Namespace("ns")
}

// TestFor runs a controller of a kind that nothing was generated for.
func TestFor(t *testing.T) {
	ctx, informers, client := newContext(t)
	ctx, cancel := context.WithCancel(ctx)
	impl := newThingController(ctx)
	wait, err := controller.RunInformers(ctx.Done(), informers...)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- controller.StartAll(ctx, impl) }()

	var got *unstructured.Unstructured
	hang := time.After(time.Minute)
	for {
		if got, err = client.Get(ctx, "a", metav1.GetOptions{}); err != nil {
			t.Fatal(err)
		}
		if observed, _, _ := unstructured.NestedInt64(got.Object, "status", "observedGeneration"); observed == 3 {
			break
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-hang:
			t.Fatal("the status was not written")
		}
	}
	conditions, _, _ := unstructured.NestedSlice(got.Object, "status", "conditions")
	if len(conditions) != 1 || conditions[0].(map[string]any)["status"] != "True" {
		t.Errorf("conditions are %v", conditions)
	}
	if f := got.GetFinalizers(); len(f) != 1 || f[0] != "things.test.weir.dev" {
		t.Errorf("finalizers are %q", f)
	}
	for _, path := range [][]string{{"spec", "kept"}, {"status", "address", "url"}} {
		if _, found, _ := unstructured.NestedString(got.Object, path...); !found {
			t.Errorf("%q is gone: what the Go type does not know is not the reconciler's to drop", path)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	wait()
}

func TestLister(t *testing.T) {
	ctx, informers, _ := newContext(t)
	lister := things.Lister(ctx)
	if things.Informer(ctx) != things.Informer(ctx) {
		t.Error("a set has one informer a kind")
	}
	ctx, cancel := context.WithCancel(ctx)
	wait, err := controller.RunInformers(ctx.Done(), informers...)
	if err != nil {
		t.Fatal(err)
	}
	defer wait()
	defer cancel()
	if _, err := lister.Get("ns", "a"); err != nil {
		t.Error(err)
	}
	if _, err := lister.Get("ns", "nobody"); !apierrors.IsNotFound(err) {
		t.Errorf("got %v, want NotFound", err)
	}
	if all, err := lister.List(labels.Everything()); err != nil || len(all) != 1 {
		t.Errorf("listed %d, %v", len(all), err)
	}
}

func TestNames(t *testing.T) {
	deployments := generic.Kind[*appsv1.Deployment]{Group: "apps", Version: "v1", Kind: "Deployment"}
	if got := deployments.Resource(); got != appsv1.SchemeGroupVersion.WithResource("deployments") {
		t.Errorf("got %s", got)
	}
	fish := generic.Kind[*corev1.Pod]{Version: "v1", Kind: "Fish", Plural: "Fish"}
	if got := fish.Resource(); got != corev1.SchemeGroupVersion.WithResource("fish") {
		t.Errorf("got %s", got)
	}
}

func TestNoSet(t *testing.T) {
	defer func() {
		if _, ok := recover().(*injection.DependencyError); !ok {
			t.Error("without a set the error says what is missing")
		}
	}()
	things.Informer(t.Context())
}
