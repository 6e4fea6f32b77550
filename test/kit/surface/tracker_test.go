// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package surface_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"weir.dev/pkg/apis"
	duckv1 "weir.dev/pkg/apis/duck/v1"
	_ "weir.dev/pkg/client/injection/ducks/duck/v1/addressable/fake" // for the resolver
	"weir.dev/pkg/injection"
	fakedynamic "weir.dev/pkg/injection/clients/dynamicclient/fake"
	"weir.dev/pkg/network"
	"weir.dev/pkg/resolver"
	"weir.dev/pkg/tracker"
)

// TestTracker: the observer of an object hears of it when it begins to track
// it, and when the object changes, until it is gone itself or the lease ends.
func TestTracker(t *testing.T) {
	var called []types.NamespacedName
	callback := func(key types.NamespacedName) { called = append(called, key) }
	tr := tracker.New(callback, time.Hour)
	observer, target, labelled := pod("observer"), pod("target"), pod("labelled")
	labelled.Labels = map[string]string{"a": "b"}
	self := key("ns", "observer")

	ref := corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: "ns", Name: "target"}
	for range 2 {
		if err := tr.Track(ref, observer); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff([]types.NamespacedName{self}, called); d != "" {
		t.Errorf("new tracking calls back, renewed does not (-want +got):\n%s", d)
	}
	selection := tracker.Reference{APIVersion: "v1", Kind: "Pod", Namespace: "ns", Selector: &metav1.LabelSelector{MatchLabels: labelled.Labels}}
	if err := tr.TrackReference(selection, observer); err != nil {
		t.Fatal(err)
	}
	for _, changed := range []*corev1.Pod{target, labelled, pod("other")} {
		called = nil
		tr.OnChanged(changed)
		if got, want := slices.Contains(called, self), changed.Name != "other"; got != want {
			t.Errorf("%s has changed, the observer hears of it: %v", changed.Name, got)
		}
	}
	if got := tr.GetObservers(target); !slices.Contains(got, self) {
		t.Errorf("the observers are %v", got)
	}
	tr.OnDeletedObserver(observer)
	if got := tr.GetObservers(target); len(got) != 0 {
		t.Errorf("after the observer's end they are %v", got)
	}
	if err := tr.TrackReference(tracker.Reference{Kind: "Pod"}, observer); err == nil {
		t.Error("that is no reference")
	}

	called = nil
	expiring := tracker.New(callback, -time.Second)
	for range 2 {
		if err := expiring.Track(ref, observer); err != nil {
			t.Fatal(err)
		}
	}
	if len(called) != 2 {
		t.Errorf("tracking that had expired calls back, too: %v", called)
	}
}

func TestReference(t *testing.T) {
	named := tracker.Reference{APIVersion: "v1", Kind: "Pod", Namespace: "ns", Name: "name"}
	selecting := tracker.Reference{APIVersion: "v1", Kind: "Pod", Namespace: "ns", Selector: &metav1.LabelSelector{}}
	both := named
	both.Selector = selecting.Selector
	tests := map[string]struct {
		ref   tracker.Reference
		valid bool
	}{
		"Name":     {named, true},
		"Selector": {selecting, true},
		"Both":     {both, false},
		"Neither":  {tracker.Reference{APIVersion: "v1", Kind: "Pod", Namespace: "ns"}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if err := tc.ref.Validate(t.Context()); (err == nil) != tc.valid {
				t.Errorf("Validate: %v", err)
			}
		})
	}
	if err := named.ValidateObjectReference(t.Context()); err != nil {
		t.Errorf("ValidateObjectReference: %v", err)
	}
	if err := selecting.ValidateObjectReference(t.Context()); err == nil {
		t.Error("a selection is not one object")
	}
}

// TestResolver finds where things take requests.
func TestResolver(t *testing.T) {
	sink := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Sink", "metadata": map[string]any{"namespace": "ns", "name": "sink"},
		"status": map[string]any{"address": map[string]any{"url": "http://sink.example.com/base/", "CACerts": "pem"}},
	}}
	scheme := runtime.NewScheme()
	scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "SinkList"}, &unstructured.UnstructuredList{})
	svc := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"namespace": "ns", "name": "svc"}}}
	scheme.AddKnownTypeWithName(schema.GroupVersionKind{Version: "v1", Kind: "ServiceList"}, &unstructured.UnstructuredList{})
	ctx, _ := fakedynamic.With(t.Context(), scheme, sink, svc)
	ctx, _ = injection.Fake.SetupInformers(ctx, &rest.Config{})

	var custom resolver.RefResolverFunc = func(_ context.Context, ref *corev1.ObjectReference) (bool, *apis.URL, error) {
		return ref.Kind == "Custom", apis.HTTP("custom.example.com"), nil
	}
	r := resolver.NewURIResolverFromTracker(ctx, tracker.New(func(types.NamespacedName) {}, time.Hour), custom)
	sinkRef := &duckv1.KReference{APIVersion: "example.com/v1", Kind: "Sink", Namespace: "ns", Name: "sink"}
	svcRef := &duckv1.KReference{APIVersion: "v1", Kind: "Service", Namespace: "ns", Name: "svc"}
	relative := &apis.URL{Path: "rest"}
	tests := map[string]struct {
		dest duckv1.Destination
		want string
	}{
		"Reference": {duckv1.Destination{Ref: sinkRef}, "http://sink.example.com/base/"},
		"Relative":  {duckv1.Destination{Ref: sinkRef, URI: relative}, "http://sink.example.com/base/rest"},
		"Absolute":  {duckv1.Destination{URI: apis.HTTPS("there.example.com")}, "https://there.example.com"},
		"Service":   {duckv1.Destination{Ref: svcRef}, "http://svc.ns.svc." + network.GetClusterDomainName()},
		"Custom":    {duckv1.Destination{Ref: &duckv1.KReference{APIVersion: "example.com/v1", Kind: "Custom", Namespace: "ns", Name: "c"}}, "http://custom.example.com"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			url, err := r.URIFromDestinationV1(ctx, tc.dest, pod("parent"))
			if err != nil || url.String() != tc.want {
				t.Errorf("URIFromDestinationV1: %v, %v, want %s", url, err, tc.want)
			}
		})
	}
	address, err := r.AddressableFromDestinationV1(ctx, duckv1.Destination{Ref: sinkRef}, pod("parent"))
	if err != nil || address.CACerts == nil || *address.CACerts != "pem" {
		t.Errorf("AddressableFromDestinationV1: %+v, %v", address, err)
	}
	url, err := r.URIFromKReference(ctx, sinkRef, pod("parent"))
	if err != nil || url.Host != "sink.example.com" {
		t.Errorf("URIFromKReference: %v, %v", url, err)
	}
	if _, err := r.URIFromDestinationV1(ctx, duckv1.Destination{URI: relative}, pod("parent")); err == nil {
		t.Error("a relative URI needs a reference")
	}
}
