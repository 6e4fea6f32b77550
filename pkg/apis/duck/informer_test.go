// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package duck_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clientgotesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"weir.dev/pkg/apis/duck"
	duckv1 "weir.dev/pkg/apis/duck/v1"
)

var sinks = schema.GroupVersionResource{Group: "test.weir.dev", Version: "v1", Resource: "sinks"}

func sink(name, url string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "test.weir.dev/v1", "kind": "Sink",
		"metadata": map[string]any{"namespace": "ns", "name": name},
		"spec":     map[string]any{"nobody": "reads this"},
		"status":   map[string]any{"address": map[string]any{"url": url}},
	}}
}

func newClient(objects ...runtime.Object) *dynamicfake.FakeDynamicClient {
	return dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{sinks: "SinkList"}, objects...)
}

func urlOf(obj any) string { return obj.(*duckv1.AddressableType).Status.Address.URL.String() }

// TestTypedInformer reads a resource that nobody has a Go type for by its shape.
func TestTypedInformer(t *testing.T) {
	client := newClient(sink("a", "http://a"))
	f := &duck.TypedInformerFactory{Client: client, Type: &duckv1.AddressableType{}, StopChannel: t.Context().Done()}
	informer, lister, err := f.Get(t.Context(), sinks)
	if err != nil {
		t.Fatal(err)
	}
	got, err := lister.ByNamespace("ns").Get("a")
	if err != nil || urlOf(got) != "http://a" {
		t.Fatalf("listed %v, %v", got, err)
	}
	seen := make(chan string, 2)
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) { seen <- urlOf(obj) }}); err != nil {
		t.Fatal(err)
	}
	<-seen
	if _, err := client.Resource(sinks).Namespace("ns").Create(t.Context(), sink("b", "http://b"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := <-seen; got != "http://b" {
		t.Errorf("watched %q", got)
	}
}

func TestTypedInformerFails(t *testing.T) {
	refused := apierrors.NewNotFound(sinks.GroupResource(), "")
	tests := map[string]struct {
		reason  string
		err     error // of the API server
		timeout time.Duration
		want    error
	}{
		"no such resource": {"waiting would not help", refused, time.Minute, refused},
		"API server gone":  {"it may come back, but the caller has no more time", errors.New("refused"), 50 * time.Millisecond, context.DeadlineExceeded},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			client := newClient()
			client.PrependReactor("list", "sinks", func(clientgotesting.Action) (bool, runtime.Object, error) { return true, nil, tc.err })
			f := &duck.TypedInformerFactory{Client: client, Type: &duckv1.AddressableType{}, StopChannel: t.Context().Done()}
			ctx, cancel := context.WithTimeout(t.Context(), tc.timeout)
			defer cancel()
			if _, _, err := f.Get(ctx, sinks); !errors.Is(err, tc.want) || !strings.Contains(err.Error(), "sinks") {
				t.Errorf("%s: got %v, want %v with the resource's name", tc.reason, err, tc.want)
			}
		})
	}
}

// TestTypedInformerMeetsAnotherShape lists an object that has something else where the shape has its address.
func TestTypedInformerMeetsAnotherShape(t *testing.T) {
	odd := sink("odd", "")
	odd.Object["status"] = map[string]any{"address": []any{"not", "an", "object"}}
	f := &duck.TypedInformerFactory{Client: newClient(odd), Type: &duckv1.AddressableType{}, StopChannel: t.Context().Done()}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := f.Get(ctx, sinks); err == nil {
		t.Error("an informer that cannot show an object must not claim to be in sync")
	}
}

// factory counts its calls and fails as often as told.
type factory struct {
	duck.InformerFactory
	calls, failures atomic.Int32
}

func (f *factory) Get(ctx context.Context, gvr schema.GroupVersionResource) (cache.SharedIndexInformer, cache.GenericLister, error) {
	if f.calls.Add(1) <= f.failures.Load() {
		return nil, nil, errors.New("not yet")
	}
	return f.InformerFactory.Get(ctx, gvr)
}

func TestCachedAndEnqueue(t *testing.T) {
	inner := &factory{InformerFactory: &duck.TypedInformerFactory{
		Client: newClient(sink("a", "http://a")), Type: &duckv1.AddressableType{}, StopChannel: t.Context().Done(),
	}}
	inner.failures.Store(1)
	seen := make(chan string, 4)
	f := &duck.CachedInformerFactory{Delegate: &duck.EnqueueInformerFactory{
		Delegate:     inner,
		EventHandler: cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) { seen <- urlOf(obj) }},
	}}
	if _, _, err := f.Get(t.Context(), sinks); err == nil {
		t.Fatal("the first attempt fails")
	}
	first, _, err := f.Get(t.Context(), sinks)
	if err != nil {
		t.Fatalf("a failure is not kept: %v", err)
	}
	second, _, err := f.Get(t.Context(), sinks)
	if err != nil || first != second || inner.calls.Load() != 2 {
		t.Errorf("one informer a resource: %v, %d calls, the same: %t", err, inner.calls.Load(), first == second)
	}
	if got := <-seen; got != "http://a" || len(seen) > 0 {
		t.Errorf("the handler sees the object once, got %q and %d more", got, len(seen))
	}
}
