// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package informers

import (
	"context"
	"errors"
	"testing"

	// Link the fakes for any informers our controller accesses.
	_ "weir.dev/pkg/client/injection/kube/informers/core/v1/service/fake"

	fakekubeclient "weir.dev/pkg/client/injection/kube/client/fake"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	clientgotesting "k8s.io/client-go/testing"

	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection"
	logtesting "weir.dev/pkg/logging/testing"
)

// TestFoo is the first fragment of "Testing Controllers", and goes on to test
// the controller process.
func TestFoo(t *testing.T) {
	ctx, cancel := context.WithCancel(logtesting.TestContextWithLogger(t))
	defer cancel()

	// Setup a context from all of the injected fakes.
	ctx, informers := injection.Fake.SetupInformers(ctx, &rest.Config{})
	cmw := configmap.NewStaticWatcher(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "config"}})
	ctrl := NewController(ctx, cmw)

	// Test the controller process.
	svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "svc"}}
	if _, err := fakekubeclient.Get(ctx).CoreV1().Services("ns").Create(ctx, svc, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := controller.StartInformers(ctx.Done(), informers...); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- controller.StartAll(ctx, ctrl) }()
	if key := <-ctrl.Reconciler.(*Reconciler).Seen; key != "ns/svc" {
		t.Errorf("reconciled %q", key)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestWith is the second fragment: contexts seeded with objects, fake clients
// of the actual fake type.
func TestWith(t *testing.T) {
	ctx := logtesting.TestContextWithLogger(t)

	objs := []runtime.Object{
		// Some list of initial objects in the client.
		&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "svc"}},
	}

	ctx, kubeClient := fakekubeclient.With(ctx, objs...)

	// The fake clients returned by our library are the actual fake type,
	// which enables us to access test-specific methods, e.g. (the seed's
	// AppendReactor is client-go's AddReactor; this one goes first)
	errRefused := errors.New("refused")
	kubeClient.PrependReactor("create", "services", func(clientgotesting.Action) (bool, runtime.Object, error) {
		return true, nil, errRefused
	})

	c := &Reconciler{
		Client: kubeClient,
	}

	// Test the reconciler...
	if _, err := c.Client.CoreV1().Services("ns").Get(ctx, "svc", metav1.GetOptions{}); err != nil {
		t.Errorf("the client has not the object it was seeded with: %v", err)
	}
	if _, err := c.Client.CoreV1().Services("ns").Create(ctx, &corev1.Service{}, metav1.CreateOptions{}); !errors.Is(err, errRefused) {
		t.Errorf("Create: %v, want what the reactor says", err)
	}
	if got := fakekubeclient.Get(ctx); got != kubeClient {
		t.Error("the context has another client")
	}
}

// TestLinked: importing an accessor registers it, importing its fake registers
// that, and what nobody asks for is not made.
func TestLinked(t *testing.T) {
	for name, registry := range map[string]injection.Interface{"Default": injection.Default, "Fake": injection.Fake} {
		ctx, informers := registry.SetupInformers(t.Context(), &rest.Config{Host: "http://127.0.0.1:1"})
		if watches := injection.Watches(ctx); len(watches) != 0 {
			t.Errorf("%s watches %v before anybody asked", name, watches)
		}
		NewController(ctx, configmap.NewStaticWatcher())
		if watches := injection.Watches(ctx); len(watches) != 1 || len(informers) == 0 {
			t.Errorf("%s watches %v, want the Services that the constructor asked for", name, watches)
		}
	}
}
