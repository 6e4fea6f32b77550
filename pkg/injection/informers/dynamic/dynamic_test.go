// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package dynamic

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection"
	fakedynamic "weir.dev/pkg/injection/clients/dynamicclient/fake"
)

// TestGet: the set's informer is scoped as the set is.
func TestGet(t *testing.T) {
	deployment := func(namespace string) *appsv1.Deployment {
		return &appsv1.Deployment{
			TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"},
			Spec:       appsv1.DeploymentSpec{Paused: true},
		}
	}
	ctx, _ := fakedynamic.With(injection.WithNamespaceScope(t.Context(), "ns"), scheme.Scheme, deployment("ns"), deployment("other"))
	ctx, informers := injection.Fake.SetupInformers(ctx, &rest.Config{})
	informer := Get(ctx, schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"})
	if err := controller.StartInformers(ctx.Done(), informers...); err != nil {
		t.Fatal(err)
	}
	if n := len(informer.Informer().GetStore().List()); n != 1 {
		t.Errorf("the informer has %d objects, want that of the set's namespace alone", n)
	}
	got, err := informer.Lister().ByNamespace("ns").Get("web")
	if err != nil {
		t.Fatal(err)
	}
	if paused, _, _ := unstructured.NestedBool(got.(*unstructured.Unstructured).Object, "spec", "paused"); !paused {
		t.Errorf("the object is %v, want all of it", got)
	}
}
