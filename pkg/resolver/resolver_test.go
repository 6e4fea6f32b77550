// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package resolver_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"

	"weir.dev/pkg/apis"
	duckv1 "weir.dev/pkg/apis/duck/v1"
	_ "weir.dev/pkg/client/injection/ducks/duck/v1/addressable/fake" // what the resolver asks for
	"weir.dev/pkg/injection"
	"weir.dev/pkg/injection/clients/dynamicclient"
	"weir.dev/pkg/network"
	"weir.dev/pkg/resolver"
	"weir.dev/pkg/tracker"
)

var (
	sinks    = schema.GroupVersionResource{Group: "test.weir.dev", Version: "v1", Resource: "sinks"}
	services = corev1.SchemeGroupVersion.WithResource("services")

	parent = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "parent"}}
)

type object = map[string]any

func resource(apiVersion, kind, name string, status object) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: object{
		"apiVersion": apiVersion, "kind": kind, "metadata": object{"namespace": "ns", "name": name}, "status": status,
	}}
}

func sink(name string, status object) *unstructured.Unstructured {
	return resource("test.weir.dev/v1", "Sink", name, status)
}

func ref(name string) *duckv1.KReference {
	return &duckv1.KReference{APIVersion: "test.weir.dev/v1", Kind: "Sink", Namespace: "ns", Name: name}
}

func at(r *duckv1.KReference, address string) *duckv1.KReference {
	r.Address = &address
	return r
}

func service(name string) *duckv1.KReference {
	return &duckv1.KReference{APIVersion: "v1", Kind: "Service", Namespace: "ns", Name: name}
}

func uri(s string) *apis.URL {
	u, err := apis.ParseURL(s)
	if err != nil {
		panic(err)
	}
	return u
}

// rig is a resolver with its API and the keys that it enqueued.
type rig struct {
	*resolver.URIResolver
	api      *dynamicfake.FakeDynamicClient
	enqueued chan types.NamespacedName
}

func newRig(t *testing.T, resolvers ...resolver.RefResolverFunc) *rig {
	r := &rig{enqueued: make(chan types.NamespacedName, 100)}
	r.api = dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{sinks: "SinkList", services: "ServiceList"},
		resource("v1", "Service", "svc", nil),
		sink("plain", object{"address": object{"url": "http://plain.example/base/", "CACerts": "pem", "audience": "aud", "name": "http"}}),
		sink("several", object{
			"address": object{"url": "http://first.example", "name": "http"},
			"addresses": []any{
				object{"url": "http://first.example", "name": "http"},
				object{"url": "https://second.example", "name": "https", "CACerts": "second"},
			},
		}),
		sink("list", object{"addresses": []any{object{"url": "http://only.example"}}}),
		sink("pending", object{}),
		sink("hostless", object{"address": object{"url": "/path"}}))
	ctx := context.WithValue(t.Context(), dynamicclient.Key{}, r.api)
	ctx, _ = injection.Fake.SetupInformers(ctx, nil)
	r.URIResolver = resolver.NewURIResolverFromTracker(ctx,
		tracker.New(func(key types.NamespacedName) { r.enqueued <- key }, time.Hour), resolvers...)
	return r
}

func TestAddressableFromDestinationV1(t *testing.T) {
	own, nothing := "own", ""
	serviceHost := network.GetServiceHostname("svc", "ns")
	tests := map[string]struct {
		reason string
		dest   duckv1.Destination
		want   duckv1.Addressable
	}{
		"URI": {
			reason: "an absolute URI is the address",
			dest:   duckv1.Destination{URI: uri("http://a.example/x?y=z"), CACerts: &own, Audience: &own},
			want:   duckv1.Addressable{URL: uri("http://a.example/x?y=z"), CACerts: &own, Audience: &own},
		},
		"Service": {
			reason: "a core Service has no address, but a name",
			dest:   duckv1.Destination{Ref: service("svc")},
			want:   duckv1.Addressable{URL: apis.HTTP(serviceHost)},
		},
		"ServicePath": {
			reason: "a path below a Service",
			dest:   duckv1.Destination{Ref: at(service("svc"), "https"), URI: uri("/x")},
			want:   duckv1.Addressable{Name: new("https"), URL: uri("https://" + serviceHost + "/x")},
		},
		"Ref": {
			reason: "everything that the address says",
			dest:   duckv1.Destination{Ref: ref("plain")},
			want: duckv1.Addressable{
				Name: new("http"), URL: uri("http://plain.example/base/"), CACerts: new("pem"), Audience: new("aud"),
			},
		},
		"RelativeAndOwn": {
			reason: "the destination knows better, unless it is blank",
			dest:   duckv1.Destination{Ref: ref("plain"), URI: uri("sub?q=1"), CACerts: &own, Audience: &nothing},
			want: duckv1.Addressable{
				Name: new("http"), URL: uri("http://plain.example/base/sub?q=1"), CACerts: &own, Audience: new("aud"),
			},
		},
		"Default": {
			reason: "the address to use is one of several",
			dest:   duckv1.Destination{Ref: ref("several")},
			want:   duckv1.Addressable{Name: new("http"), URL: apis.HTTP("first.example")},
		},
		"Named": {
			reason: "the reference names another",
			dest:   duckv1.Destination{Ref: at(ref("several"), "https")},
			want:   duckv1.Addressable{Name: new("https"), URL: apis.HTTPS("second.example"), CACerts: new("second")},
		},
		"List": {
			reason: "a list alone will do",
			dest:   duckv1.Destination{Ref: ref("list")},
			want:   duckv1.Addressable{URL: apis.HTTP("only.example")},
		},
	}
	r := newRig(t)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for range 2 { // what is returned is nobody's cache
				got, err := r.AddressableFromDestinationV1(t.Context(), tc.dest, parent)
				if err != nil {
					t.Fatalf("AddressableFromDestinationV1: %v", err)
				}
				if d := cmp.Diff(&tc.want, got); d != "" {
					t.Errorf("%s (-want +got):\n%s", tc.reason, d)
				}
				got.URL.Path = "/changed"
			}
			got, err := r.URIFromDestinationV1(t.Context(), tc.dest, parent)
			if err != nil || got.String() != tc.want.URL.String() {
				t.Errorf("%s: the URI is %v, %v", tc.reason, got, err)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	failing := errors.New("no way")
	r := newRig(t, func(_ context.Context, ref *corev1.ObjectReference) (bool, *apis.URL, error) {
		switch ref.Kind {
		case "Failing":
			return true, nil, failing
		case "Silent":
			return true, nil, nil
		}
		return false, nil, nil
	})
	tests := map[string]struct {
		reason string
		dest   duckv1.Destination
		want   string
		is     func(error) bool
	}{
		"Nothing":     {"there is nowhere to send", duckv1.Destination{}, "neither ref nor uri", nil},
		"Relative":    {"relative to what", duckv1.Destination{URI: uri("/x")}, `"/x"`, nil},
		"Both":        {"one of the two would be ignored", duckv1.Destination{Ref: ref("plain"), URI: uri("http://a.example")}, "absolute", nil},
		"NotFound":    {"callers wait for it", duckv1.Destination{Ref: ref("gone")}, "test.weir.dev/v1 Sink ns/gone", apierrors.IsNotFound},
		"NoService":   {"a name alone does not answer", duckv1.Destination{Ref: service("gone")}, "v1 Service ns/gone", apierrors.IsNotFound},
		"Pending":     {"it has no address yet", duckv1.Destination{Ref: ref("pending")}, "Sink ns/pending: it is not addressable", nil},
		"Hostless":    {"nobody can be reached there", duckv1.Destination{Ref: ref("hostless")}, "Sink ns/hostless: its address has no URL", nil},
		"Unnamed":     {"another address will not do", duckv1.Destination{Ref: at(ref("plain"), "grpc")}, `name "grpc"`, nil},
		"NoNamespace": {"the reference is incomplete", duckv1.Destination{Ref: &duckv1.KReference{APIVersion: "v1", Kind: "Service", Name: "svc"}}, "namespace", nil},
		"Failing":     {"whose kind it is has the last word", duckv1.Destination{Ref: &duckv1.KReference{Kind: "Failing", Name: "f"}}, "Failing", func(err error) bool { return errors.Is(err, failing) }},
		"Silent":      {"nothing is no URL", duckv1.Destination{Ref: &duckv1.KReference{Kind: "Silent", Name: "s"}}, "no URL", nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := r.URIFromDestinationV1(t.Context(), tc.dest, parent)
			switch {
			case err == nil:
				t.Errorf("%s: got %v", tc.reason, got)
			case !strings.Contains(err.Error(), tc.want):
				t.Errorf("%s: error is %v, want one about %s", tc.reason, err, tc.want)
			case tc.is != nil && !tc.is(err):
				t.Errorf("%s: the error's kind is lost: %v", tc.reason, err)
			}
		})
	}
	if _, err := r.URIFromKReference(t.Context(), nil, parent); err == nil {
		t.Error("no reference leads somewhere")
	}
	if _, err := r.URIFromObjectReference(t.Context(), nil, parent); err == nil {
		t.Error("no reference leads somewhere")
	}
}

// TestTracking: the parent is enqueued when what it refers to comes, changes
// and goes.
func TestTracking(t *testing.T) {
	r := newRig(t)
	await := func(want string, found bool) {
		t.Helper()
		for {
			select {
			case key := <-r.enqueued:
				if key.String() != "ns/parent" {
					t.Fatalf("enqueued %s", key)
				}
			case <-t.Context().Done():
				t.Fatal("the parent is not enqueued")
			}
			got, err := r.URIFromObjectReference(t.Context(), &corev1.ObjectReference{
				APIVersion: "test.weir.dev/v1", Kind: "Sink", Namespace: "ns", Name: "new",
			}, parent)
			if (err == nil) == found && got.String() == want {
				return
			}
		}
	}
	if _, err := r.URIFromKReference(t.Context(), ref("new"), parent); !apierrors.IsNotFound(err) {
		t.Fatalf("want it not to be found, got %v", err)
	}
	api := r.api.Resource(sinks).Namespace("ns")
	if _, err := api.Create(t.Context(), sink("new", object{"address": object{"url": "http://one"}}), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	await("http://one", true)
	if _, err := api.Update(t.Context(), sink("new", object{"address": object{"url": "http://two"}}), metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	await("http://two", true)
	if err := api.Delete(t.Context(), "new", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await("", false)
}

// TestCustom: kinds of the caller's own need no address, and no informer.
func TestCustom(t *testing.T) {
	r := newRig(t,
		func(context.Context, *corev1.ObjectReference) (bool, *apis.URL, error) { return false, nil, nil },
		func(_ context.Context, ref *corev1.ObjectReference) (bool, *apis.URL, error) {
			return ref.Kind == "Own", apis.HTTP(ref.Name + ".own"), nil
		})
	got, err := r.URIFromDestinationV1(t.Context(), duckv1.Destination{
		Ref: &duckv1.KReference{APIVersion: "own.weir.dev/v1", Kind: "Own", Name: "x"}, URI: uri("/p"),
	}, parent)
	if err != nil || got.String() != "http://x.own/p" {
		t.Errorf("resolved %v, %v", got, err)
	}
	if got, err := r.URIFromKReference(t.Context(), ref("plain"), parent); err != nil || got.Host != "plain.example" {
		t.Errorf("another kind: resolved %v, %v", got, err)
	}
}
