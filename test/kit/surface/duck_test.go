// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package surface_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	networkingv1alpha1 "weir.dev/api/networking/v1alpha1"
	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/pkg/apis"
	"weir.dev/pkg/apis/duck"
	duckv1 "weir.dev/pkg/apis/duck/v1"
	"weir.dev/pkg/controller"
	fakedynamic "weir.dev/pkg/injection/clients/dynamicclient/fake"
	"weir.dev/pkg/ptr"
	"weir.dev/pkg/tracker"
)

// The shapes, and those that can be had as a kind.
var (
	_ = []duck.Implementable{
		&duckv1.Addressable{}, &duckv1.Binding{}, &duckv1.Conditions{}, &duckv1.CronJob{}, &duckv1.Pod{}, &duckv1.PodSpecable{}, &duckv1.Source{},
	}
	_ = []duck.Populatable{
		&duckv1.AddressableType{}, &duckv1.Binding{}, &duckv1.CronJob{}, &duckv1.KResource{}, &duckv1.Pod{}, &duckv1.Source{}, &duckv1.WithPod{},
	}
	_ = []duckv1.KRShaped{&duckv1.KResource{}, &duckv1.Source{}, &servingv1.Service{}, &networkingv1alpha1.Ingress{}}
	_ = []duck.InformerFactory{&duck.TypedInformerFactory{}, &duck.CachedInformerFactory{}, &duck.EnqueueInformerFactory{}}
)

// TestTypesInJSON: the shapes are what others write.
func TestTypesInJSON(t *testing.T) {
	url := apis.HTTP("a.example.com")
	tests := map[string]struct {
		value interface{}
		want  string
	}{
		"Addressable": {duckv1.Addressable{Name: ptr.String("n"), URL: url, CACerts: ptr.String("pem"), Audience: ptr.String("aud")},
			`{"name":"n","url":"http://a.example.com","CACerts":"pem","audience":"aud"}`},
		"AddressStatus": {duckv1.AddressStatus{Address: &duckv1.Addressable{URL: url}, Addresses: []duckv1.Addressable{{URL: url}}},
			`{"address":{"url":"http://a.example.com"},"addresses":[{"url":"http://a.example.com"}]}`},
		"Destination": {duckv1.Destination{Ref: &duckv1.KReference{Kind: "K", Namespace: "ns", Name: "n", APIVersion: "v1", Group: "g", Address: ptr.String("a")},
			URI: url, CACerts: ptr.String("pem"), Audience: ptr.String("aud")},
			`{"ref":{"kind":"K","namespace":"ns","name":"n","apiVersion":"v1","group":"g","address":"a"},"uri":"http://a.example.com","CACerts":"pem","audience":"aud"}`},
		"Status": {duckv1.Status{ObservedGeneration: 1, Conditions: duckv1.Conditions{{Type: "Ready", Status: "True"}}, Annotations: map[string]string{"a": "b"}},
			`{"observedGeneration":1,"conditions":[{"type":"Ready","status":"True","lastTransitionTime":null}],"annotations":{"a":"b"}}`},
		"Source": {duckv1.SourceSpec{Sink: duckv1.Destination{URI: url}, CloudEventOverrides: &duckv1.CloudEventOverrides{Extensions: map[string]string{"a": "b"}}},
			`{"sink":{"uri":"http://a.example.com"},"ceOverrides":{"extensions":{"a":"b"}}}`},
		"SourceStatus": {duckv1.SourceStatus{SinkURI: url, CloudEventAttributes: []duckv1.CloudEventAttributes{{Type: "t", Source: "s"}}, Auth: &duckv1.AuthStatus{ServiceAccountName: ptr.String("sa")}},
			`{"sinkUri":"http://a.example.com","ceAttributes":[{"type":"t","source":"s"}],"auth":{"serviceAccountName":"sa"}}`},
		"Binding": {duckv1.BindingSpec{Subject: tracker.Reference{Kind: "K", Name: "n"}}, `{"subject":{"kind":"K","name":"n"}}`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			text, err := json.Marshal(tc.value)
			if err != nil || string(text) != tc.want {
				t.Errorf("got %s, %v\nwant %s", text, err, tc.want)
			}
		})
	}
}

func TestDestination(t *testing.T) {
	ctx := apis.WithinParent(t.Context(), metav1.ObjectMeta{Namespace: "ns"})
	d := &duckv1.Destination{Ref: &duckv1.KReference{APIVersion: "v1", Kind: "Service", Name: "svc"}}
	d.SetDefaults(ctx)
	if d.GetRef().Namespace != "ns" {
		t.Errorf("the namespace is %q, want the parent's", d.Ref.Namespace)
	}
	if err := d.Validate(ctx); err != nil {
		t.Errorf("Validate: %v", err)
	}
	d.Ref.Namespace = "other"
	if err := d.Validate(ctx); err == nil {
		t.Error("another namespace must be allowed")
	}
	if err := d.Validate(apis.AllowDifferentNamespace(ctx)); err != nil {
		t.Errorf("it is allowed: %v", err)
	}
	if err := (&duckv1.Destination{}).Validate(ctx); err == nil {
		t.Error("that leads nowhere")
	}
}

func TestShapes(t *testing.T) {
	for name, tc := range map[string]struct {
		instance interface{}
		shape    duck.Implementable
		conforms bool
	}{
		"Conditions":  {&servingv1.Service{}, &duckv1.Conditions{}, true},
		"Address":     {&servingv1.Route{}, &duckv1.Addressable{}, true},
		"NoAddress":   {&corev1.ConfigMap{}, &duckv1.Addressable{}, false},
		"NoPodInPods": {&gadget{}, &duckv1.PodSpecable{}, false},
	} {
		if err := duck.VerifyType(tc.instance, tc.shape); (err == nil) != tc.conforms {
			t.Errorf("%s: VerifyType: %v", name, err)
		}
		if ok, err := duck.ConformsToType(tc.instance, tc.shape); ok != tc.conforms || err != nil {
			t.Errorf("%s: ConformsToType: %v, %v", name, ok, err)
		}
	}
}

func TestPatches(t *testing.T) {
	before, after := pod("name"), pod("name")
	after.Labels = map[string]string{"a": "b"}
	patch, err := duck.CreatePatch(before, after)
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]`
	if text, err := json.Marshal(patch); err != nil || string(text) != want {
		t.Errorf("patch: %s, %v", text, err)
	}
	merge, err := duck.CreateMergePatch(before, after)
	if err != nil || string(merge) != `{"metadata":{"labels":{"a":"b"}}}` {
		t.Errorf("merge patch: %s, %v", merge, err)
	}
	bytesPatch, err := duck.CreateBytePatch([]byte(`{"a":1}`), []byte(`{"a":1}`))
	if err != nil || len(bytesPatch) != 0 {
		t.Errorf("nothing has changed: %v, %v", bytesPatch, err)
	}
}

func TestLabels(t *testing.T) {
	for got, want := range map[string]string{
		duck.BindingIncludeLabel: "bindings.knative.dev/include",
		duck.BindingExcludeLabel: "bindings.knative.dev/exclude",
		duck.AddressableLabel:    "duck.knative.dev/addressable",
		duck.SourceLabel:         "duck.knative.dev/source",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestInformerFactories stacks the factories as a controller of any kind does.
func TestInformerFactories(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ctx, client := fakedynamic.With(ctx, scheme.Scheme, pod("there"))
	seen := make(chan interface{}, 10)
	factory := &duck.CachedInformerFactory{Delegate: &duck.EnqueueInformerFactory{
		Delegate: &duck.TypedInformerFactory{
			Client: client, Type: (&duckv1.Pod{}).GetFullType(), ResyncPeriod: time.Hour, StopChannel: ctx.Done(),
		},
		EventHandler: controller.HandleAll(func(obj interface{}) { seen <- obj }),
	}}
	pods := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	informer, lister, err := factory.Get(ctx, pods)
	if err != nil {
		t.Fatal(err)
	}
	got, err := lister.ByNamespace("ns").Get("there")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(got, <-seen); d != "" || got.(*duckv1.Pod).Name != "there" {
		t.Errorf("the handler and the lister differ:\n%s", d)
	}
	again, _, err := factory.Get(ctx, pods)
	if err != nil || again != informer {
		t.Errorf("there is one informer a resource: %v", err)
	}
}
