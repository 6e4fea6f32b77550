// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package addressableservice

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	corev1listers "k8s.io/client-go/listers/core/v1"
	clientgotesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"

	"weir.dev/examples/controller/pkg/apis/samples/v1alpha1"
	fakesamplesclient "weir.dev/examples/controller/pkg/client/injection/client/fake"
	addressableservicereconciler "weir.dev/examples/controller/pkg/client/injection/reconciler/samples/v1alpha1/addressableservice"
	listers "weir.dev/examples/controller/pkg/client/listers/samples/v1alpha1"
	"weir.dev/examples/controller/pkg/config"
	"weir.dev/examples/controller/pkg/directory"
	"weir.dev/pkg/apis"
	fakekubeclient "weir.dev/pkg/client/injection/kube/client/fake"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/logging"
	rtesting "weir.dev/pkg/reconciler/testing"
)

const finalizer = "addressableservices.samples.weir.dev"

// TestReconcile says what one run of a key writes, and that it writes no more.
func TestReconcile(t *testing.T) {
	url := &apis.URL{Scheme: "http", Host: "web.ns.svc.example"}
	found := func(a *v1alpha1.AddressableService) { a.Status.MarkServiceFound(url) }
	missing := func(a *v1alpha1.AddressableService) { a.Status.MarkServiceMissing("web") }
	reconciled := rtesting.Eventf("Normal", "AddressableServiceReconciled", "AddressableService reconciled: %q", "ns/it")

	rtesting.TableTest{{
		Name:                    "the first run puts the finalizer on, and is all the work",
		SkipNamespaceValidation: true, // the directory is in the system namespace
		Key:                     "ns/it",
		Objects:                 []runtime.Object{addressable(without), service(), listed("")},
		WantPatches: []clientgotesting.PatchActionImpl{
			patch("addressableservices", "ns", "it", `{"metadata":{"finalizers":["addressableservices.samples.weir.dev"],"resourceVersion":""}}`),
			patch("configmaps", "system", "addresses", `{"data":{"ns.it":"http://web.ns.svc.example"}}`),
		},
		WantStatusUpdates: []clientgotesting.UpdateActionImpl{{Object: addressable(found)}},
		WantEvents:        []string{rtesting.Eventf("Normal", "FinalizerUpdate", "Updated %q finalizers", "it"), reconciled},
	}, {
		Name:    "nothing changed, nothing is written",
		Key:     "ns/it",
		Objects: []runtime.Object{addressable(found), service(), listed("http://web.ns.svc.example")},
	}, {
		Name:                    "the Service is gone, and so is the address",
		SkipNamespaceValidation: true, // the directory is in the system namespace
		Key:                     "ns/it",
		Objects:                 []runtime.Object{addressable(found), listed("http://web.ns.svc.example")},
		WantPatches:             []clientgotesting.PatchActionImpl{patch("configmaps", "system", "addresses", `{"data":{"ns.it":null}}`)},
		WantStatusUpdates:       []clientgotesting.UpdateActionImpl{{Object: addressable(missing)}},
	}, {
		Name:                    "what the directory refuses is tried again",
		SkipNamespaceValidation: true, // the directory is in the system namespace
		Key:                     "ns/it",
		Objects:                 []runtime.Object{addressable(found), service(), listed("")},
		WithReactors: []clientgotesting.ReactionFunc{
			rtesting.InduceFailure("patch", "configmaps"),
		},
		WantErr:     true,
		WantPatches: []clientgotesting.PatchActionImpl{patch("configmaps", "system", "addresses", `{"data":{"ns.it":"http://web.ns.svc.example"}}`)},
		WantEvents: []string{rtesting.Eventf("Warning", "InternalError",
			"writing the entry of ns.it: inducing failure for patch configmaps")},
	}, {
		Name:                    "deleted: the directory is cleaned, then the object may go",
		SkipNamespaceValidation: true, // the directory is in the system namespace
		Key:                     "ns/it",
		Objects:                 []runtime.Object{addressable(found, deleted), service(), listed("http://web.ns.svc.example")},
		WantPatches: []clientgotesting.PatchActionImpl{
			// Sorted by client, not by time.
			patch("addressableservices", "ns", "it", `{"metadata":{"finalizers":[],"resourceVersion":""}}`),
			patch("configmaps", "system", "addresses", `{"data":{"ns.it":null}}`),
		},
		WantEvents: []string{rtesting.Eventf("Normal", "FinalizerUpdate", "Updated %q finalizers", "it")},
	}, {
		Name: "gone already",
		Key:  "ns/it",
	}}.Test(t, newFactory)
}

// newFactory makes the reconciler of a row on fakes.
func newFactory(t *testing.T, row *rtesting.TableRow) (controller.Reconciler, rtesting.ActionRecorderList, rtesting.EventList) {
	sorter := rtesting.NewObjectSorter(newScheme())
	sorter.AddObjects(row.Objects...)
	ctx, _ := rtesting.SetupFakeContext(t)
	ctx, samples := fakesamplesclient.With(ctx, sorter.ObjectsForSchemeFunc(v1alpha1.AddToScheme)...)
	ctx, kube := fakekubeclient.With(ctx, sorter.ObjectsForSchemeFunc(scheme.AddToScheme)...)
	for _, reactor := range row.WithReactors {
		kube.PrependReactor("*", "*", reactor)
	}
	recorder := record.NewFakeRecorder(10)
	r := &Reconciler{
		services: corev1listers.NewServiceLister(sorter.IndexerForObjectType(&corev1.Service{})),
		tracker:  &rtesting.FakeTracker{},
		directory: &directory.Directory{
			Namespace: "system", Client: kube,
			Lister: corev1listers.NewConfigMapLister(sorter.IndexerForObjectType(&corev1.ConfigMap{})),
		},
	}
	lister := listers.NewAddressableServiceLister(sorter.IndexerForObjectType(&v1alpha1.AddressableService{}))
	return addressableservicereconciler.NewReconciler(ctx, logging.FromContext(ctx), samples, lister, recorder, r,
		controller.Options{ConfigStore: fixedConfig{}}), rtesting.ActionRecorderList{samples, kube}, rtesting.EventList{Recorder: recorder}
}

// fixedConfig is a store whose configuration does not change.
type fixedConfig struct{}

func (fixedConfig) ToContext(ctx context.Context) context.Context {
	return config.ToContext(ctx, &config.Config{Domain: "example"})
}

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			panic(err)
		}
	}
	return s
}

// addressable is one that was reconciled before, with changes.
func addressable(changes ...func(*v1alpha1.AddressableService)) *v1alpha1.AddressableService {
	a := &v1alpha1.AddressableService{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "it", Generation: 1, Finalizers: []string{finalizer}},
		Spec:       v1alpha1.AddressableServiceSpec{ServiceName: "web", Scheme: "http"},
	}
	a.Status.ObservedGeneration = 1
	a.Status.InitializeConditions()
	for _, change := range changes {
		change(a)
	}
	return a
}

// without makes one that was never reconciled.
func without(a *v1alpha1.AddressableService) {
	a.Finalizers, a.Status = nil, v1alpha1.AddressableServiceStatus{}
}

func deleted(a *v1alpha1.AddressableService) {
	now := metav1.Now()
	a.DeletionTimestamp = &now
}

func service() *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web"}}
}

// listed is the directory with the address of ns/it, if any.
func listed(address string) *corev1.ConfigMap {
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: directory.Name}}
	if address != "" {
		cm.Data = map[string]string{"ns.it": address}
	}
	return cm
}

func patch(resource, namespace, name, data string) clientgotesting.PatchActionImpl {
	p := clientgotesting.PatchActionImpl{Name: name, Patch: []byte(data)}
	p.Namespace = namespace
	p.Resource.Resource = resource
	return p
}
