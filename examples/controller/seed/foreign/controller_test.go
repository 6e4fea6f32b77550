// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"context"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection"
	fakedynamic "weir.dev/pkg/injection/clients/dynamicclient/fake"
	logtesting "weir.dev/pkg/logging/testing"
)

// TestForeignKind: the reconciler gets what there is, as what it is.
func TestForeignKind(t *testing.T) {
	ctx, cancel := context.WithCancel(logtesting.TestContextWithLogger(t))
	ctx, _ = fakedynamic.With(ctx, scheme.Scheme, &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web"},
		Spec:       appsv1.DeploymentSpec{Paused: true},
	})
	ctx, informers := injection.Fake.SetupInformers(ctx, &rest.Config{})
	c := &Reconciler{Seen: make(chan *appsv1.Deployment, 1)}
	impl := newController(ctx, c)
	if err := controller.StartInformers(ctx.Done(), informers...); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- controller.StartAll(ctx, impl) }()
	if got := <-c.Seen; got.Name != "web" || !got.Spec.Paused {
		t.Errorf("reconciled %v", got)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
