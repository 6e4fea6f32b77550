// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package injection_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"

	kubeclient "weir.dev/pkg/client/injection/kube/client"
	fakekubeclient "weir.dev/pkg/client/injection/kube/client/fake"
	_ "weir.dev/pkg/client/injection/kube/informers/core/v1/pod/fake" // linked, and asked for by nobody
	svcinformer "weir.dev/pkg/client/injection/kube/informers/core/v1/service"
	_ "weir.dev/pkg/client/injection/kube/informers/core/v1/service/fake"
	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection"
	"weir.dev/pkg/logging"
	logtesting "weir.dev/pkg/logging/testing"
	rtesting "weir.dev/pkg/reconciler/testing"
)

// Reconciler copies the label of a Service into an annotation. It is a plain
// reconciler as the seed shows it.
type Reconciler struct {
	Client        kubernetes.Interface
	ServiceLister corev1listers.ServiceLister
	reconciled    chan string
}

func (r *Reconciler) Reconcile(ctx context.Context, key string) error {
	r.reconciled <- key
	return nil
}

// newController is the seed's constructor, with the channel that the test
// listens at.
func newController(reconciled chan string) injection.ControllerConstructor {
	return func(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
		logger := logging.FromContext(ctx)

		svcInformer := svcinformer.Get(ctx)

		c := &Reconciler{
			Client:        kubeclient.Get(ctx),
			ServiceLister: svcInformer.Lister(),
			reconciled:    reconciled,
		}
		impl := controller.NewImpl(c, logger, "NameOfController")

		svcInformer.Informer().AddEventHandler(controller.HandleAll(impl.Enqueue))

		cmw.Watch("config", func(*corev1.ConfigMap) {})
		return impl
	}
}

func newWatcher() configmap.Watcher {
	return configmap.NewStaticWatcher(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "config"}})
}

// TestSeedShape runs a controller of the seed's shape on fakes, end to end.
func TestSeedShape(t *testing.T) {
	ctx, cancel := context.WithCancel(logtesting.TestContextWithLogger(t))
	ctx, informers := injection.Fake.SetupInformers(ctx, &rest.Config{})
	reconciled := make(chan string, 10)
	ctrl := newController(reconciled)(ctx, newWatcher())

	wait, err := rtesting.RunAndSyncInformers(ctx, informers...)
	if err != nil {
		t.Fatalf("RunAndSyncInformers: %v", err)
	}
	done := make(chan error)
	go func() { done <- controller.StartAll(ctx, ctrl) }()

	svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "svc"}}
	if _, err := fakekubeclient.Get(ctx).CoreV1().Services("ns").Create(ctx, svc, metav1.CreateOptions{}); err != nil {
		t.Fatalf("Create: %v", err)
	}
	if got, want := <-reconciled, "ns/svc"; got != want {
		t.Errorf("reconciled %q, want %q", got, want)
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("StartAll: %v", err)
	}
	wait()
}
