// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package psbinding_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clientgotesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"

	"weir.dev/pkg/apis/duck"
	duckv1 "weir.dev/pkg/apis/duck/v1"
	logtesting "weir.dev/pkg/logging/testing"
	"weir.dev/pkg/reconciler"
	"weir.dev/pkg/tracker"
	"weir.dev/pkg/webhook/psbinding"
)

var tags = schema.GroupVersionResource{Group: "test.weir.dev", Version: "v1", Resource: "tags"}

// world is what a reconcile sees and writes.
type world struct {
	ctx      context.Context
	client   *dynamicfake.FakeDynamicClient
	recorder *record.FakeRecorder
	*psbinding.BaseReconciler
}

func newWorld(t *testing.T, binding *tag, objects ...runtime.Object) *world {
	t.Helper()
	if binding != nil {
		binding.SetGroupVersionKind(tagKind)
		objects = append(objects, binding)
	}
	for i, object := range objects {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			t.Fatal(err)
		}
		objects[i] = &unstructured.Unstructured{Object: content}
	}
	client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{
		tags: "TagList", appsv1.SchemeGroupVersion.WithResource("deployments"): "DeploymentList",
		corev1.SchemeGroupVersion.WithResource("namespaces"): "NamespaceList",
	}, objects...)
	stop := make(chan struct{})
	factory := &duck.CachedInformerFactory{Delegate: &duck.TypedInformerFactory{
		Client: client, Type: new(duckv1.PodSpecable).GetFullType(), StopChannel: stop,
	}}
	t.Cleanup(func() { close(stop) })
	w := &world{
		ctx: logtesting.TestContextWithLogger(t), client: client, recorder: record.NewFakeRecorder(10),
	}
	w.BaseReconciler = &psbinding.BaseReconciler{
		Tracker: tracker.New(func(types.NamespacedName) {}, time.Hour),
		GVR:     tags, WithContext: wrap, DynamicClient: client, Factory: factory, Recorder: w.recorder,
		Get: func(namespace, name string) (psbinding.Bindable, error) {
			if binding == nil || namespace != binding.Namespace || name != binding.Name {
				return nil, apierrors.NewNotFound(tags.GroupResource(), name)
			}
			return binding, nil
		},
	}
	return w
}

func (w *world) lead(t *testing.T) {
	t.Helper()
	if err := w.Promote(reconciler.UniversalBucket(), nil); err != nil {
		t.Fatal(err)
	}
}

// writes are what was written, in order: verb, resource and name.
func (w *world) writes() []string {
	var out []string
	for _, action := range w.client.Actions() {
		what := action.GetVerb() + " " + action.GetResource().Resource
		if action.GetSubresource() != "" {
			what += "/" + action.GetSubresource()
		}
		switch a := action.(type) {
		case clientgotesting.PatchAction:
			out = append(out, what+" "+a.GetName())
		case clientgotesting.UpdateAction:
			object := a.GetObject().(*unstructured.Unstructured)
			ready, _, _ := unstructured.NestedString(object.Object, "status", "ready")
			of, _, _ := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
			out = append(out, fmt.Sprintf("%s %s: %s of %d", what, object.GetName(), ready, of))
		}
	}
	return out
}

func (w *world) env(t *testing.T, name string) []corev1.EnvVar {
	t.Helper()
	got, err := w.client.Resource(appsv1.SchemeGroupVersion.WithResource("deployments")).Namespace(ns).Get(w.ctx, name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	out := &appsv1.Deployment{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(got.Object, out); err != nil {
		t.Fatal(err)
	}
	return out.Spec.Template.Spec.Containers[0].Env
}
