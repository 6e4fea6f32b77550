// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package hooktest is what the tests of webhooks have in common: the fakes with
// what a webhook finds installed, and a kind to default and validate.
package hooktest

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clientgotesting "k8s.io/client-go/testing"

	kubefake "weir.dev/pkg/client/injection/kube/client/fake"
	_ "weir.dev/pkg/client/injection/kube/informers/admissionregistration/v1/mutatingwebhookconfiguration/fake"   // what webhooks ask for
	_ "weir.dev/pkg/client/injection/kube/informers/admissionregistration/v1/validatingwebhookconfiguration/fake" // as above
	"weir.dev/pkg/controller"
	_ "weir.dev/pkg/injection/clients/namespacedkube/informers/core/v1/secret/fake" // as above
	"weir.dev/pkg/reconciler"
	rtesting "weir.dev/pkg/reconciler/testing"
	"weir.dev/pkg/system"
	_ "weir.dev/pkg/system/testing" // the namespace
	"weir.dev/pkg/webhook"
)

const (
	// ServiceName is the webhook's k8s Service.
	ServiceName = "webhook"
	// SecretName is the webhook's Secret.
	SecretName = "webhook-certs"
	// NamespaceUID is the UID of the system namespace.
	NamespaceUID = types.UID("the-namespace")
	// CABundle is what Secret holds.
	CABundle = "the-bundle"
)

// Cluster is a fake one.
type Cluster struct {
	// Ctx has the fakes and the webhook.Options.
	Ctx context.Context
	// Kube is the fake client.
	Kube *fake.Clientset

	t         testing.TB
	cancel    context.CancelFunc
	informers []controller.Informer
}

// New returns a cluster with the system namespace and the objects. The names of
// Service and Secret are added to the options.
func New(t testing.TB, opts webhook.Options, objects ...runtime.Object) *Cluster {
	t.Helper()
	ctx, cancel, informers := rtesting.SetupFakeContextWithCancel(t)
	opts.ServiceName, opts.SecretName = ServiceName, SecretName
	c := &Cluster{
		Ctx: webhook.WithOptions(ctx, opts), Kube: kubefake.Get(ctx),
		t: t, cancel: cancel, informers: informers,
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: system.Namespace(), UID: NamespaceUID}}
	for _, obj := range append(objects, namespace) {
		if err := c.Kube.Tracker().Add(obj); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// Start starts the informers that were asked for. They, and the controllers,
// which do not run, end with the test.
func (c *Cluster) Start(impls ...*controller.Impl) {
	c.t.Helper()
	for _, impl := range impls {
		c.t.Cleanup(impl.WorkQueue().ShutDown)
	}
	wait, err := rtesting.RunAndSyncInformers(c.Ctx, c.informers...)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		c.cancel()
		wait()
	})
}

// Run starts the informers and runs the controllers, until the test ends.
func (c *Cluster) Run(impls ...*controller.Impl) {
	c.t.Helper()
	c.Start()
	ended := make(chan error, 1)
	go func() { ended <- controller.StartAll(c.Ctx, impls...) }()
	c.t.Cleanup(func() {
		c.cancel()
		if err := <-ended; err != nil {
			c.t.Error(err)
		}
	})
}

// Lead makes the controller's reconciler the leader.
func (c *Cluster) Lead(impl *controller.Impl) {
	c.t.Helper()
	leader, ok := impl.Reconciler.(reconciler.LeaderAware)
	if !ok {
		c.t.Fatalf("a %T must be leader-aware", impl.Reconciler)
	}
	if err := leader.Promote(reconciler.UniversalBucket(), impl.MaybeEnqueueBucketKey); err != nil {
		c.t.Fatal(err)
	}
}

// Await returns once the condition holds. Without it the test ends by its limit.
func (c *Cluster) Await(condition func() bool) {
	c.t.Helper()
	if !controller.WaitForCacheSyncQuick(c.Ctx.Done(), condition) {
		c.t.Fatal("the test ended before its condition held")
	}
}

// Writes are what was written so far.
func (c *Cluster) Writes() []clientgotesting.Action {
	var writes []clientgotesting.Action
	for _, action := range c.Kube.Actions() {
		switch action.GetVerb() {
		case "get", "list", "watch":
		default:
			writes = append(writes, action)
		}
	}
	return writes
}

// Updated are the objects that were written by updates, in order. Other writes
// end the test.
func (c *Cluster) Updated() []runtime.Object {
	c.t.Helper()
	var objects []runtime.Object
	for _, action := range c.Writes() {
		update, ok := action.(clientgotesting.UpdateAction)
		if !ok {
			c.t.Fatalf("got %s of %s", action.GetVerb(), action.GetResource())
		}
		objects = append(objects, update.GetObject())
	}
	return objects
}

// Secret is the webhook's Secret with a CA bundle.
func Secret() *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: system.Namespace(), Name: SecretName},
		Data:       map[string][]byte{"ca-cert.pem": []byte(CABundle)},
	}
}
