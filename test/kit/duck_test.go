// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	duckv1 "weir.dev/pkg/apis/duck/v1"
	"weir.dev/pkg/client/injection/ducks/duck/v1/podspecable"
	_ "weir.dev/pkg/client/injection/ducks/duck/v1/podspecable/fake"
	"weir.dev/pkg/injection"
	fakedynamic "weir.dev/pkg/injection/clients/dynamicclient/fake"
)

// TestDuckInformer reads Deployments by the one thing that matters of them, their template of pods.
func TestDuckInformer(t *testing.T) {
	ctx, _ := fakedynamic.With(t.Context(), scheme.Scheme, &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web"},
		Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "web", Image: "example.com/web"}},
		}}},
	})
	ctx, _ = injection.Fake.SetupInformers(ctx, &rest.Config{})
	factory := podspecable.Get(ctx)
	if again := podspecable.Get(ctx); again != factory {
		t.Error("a set has one factory, so that informers are shared")
	}
	own := podspecable.Get(podspecable.WithDuck(ctx))
	if own == factory {
		t.Error("WithDuck gives a context one of its own")
	}
	image := func(ctx context.Context) string {
		_, lister, err := factory.Get(ctx, schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"})
		if err != nil {
			t.Fatal(err)
		}
		got, err := lister.ByNamespace("ns").Get("web")
		if err != nil {
			t.Fatal(err)
		}
		return got.(*duckv1.WithPod).Spec.Template.Spec.Containers[0].Image
	}
	if got := image(ctx); got != "example.com/web" {
		t.Errorf("the pods' image is %q", got)
	}
}
