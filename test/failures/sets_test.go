// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package failures

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	corev1informers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	kubeclient "weir.dev/pkg/client/injection/kube/client"
	secretinformer "weir.dev/pkg/client/injection/kube/informers/core/v1/secret"
	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection"
	"weir.dev/pkg/reconciler"
	"weir.dev/pkg/reconciler/generic"
)

// TestTwoClusters runs the same controllers for two clusters in one process.
// Neither sees anything of the other, each watches what its constructors asked
// for and nothing else, and nothing is left of them at their end. It is not
// parallel, so that what is left is theirs.
func TestTwoClusters(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	other := newServer(ctx, t)
	before := goleak.IgnoreCurrent()
	namespace := fmt.Sprintf("clusters-%d", time.Now().UnixNano()) // the same in both
	clusters := []*cluster{
		newCluster(ctx, t, "one", namespace, suite.System.Config),
		newCluster(ctx, t, "two", namespace, other.cfg),
	}
	const count = 10
	for _, c := range clusters {
		c.component = start(scoped(ctx, c.namespace), t, c.cfg, c.newSecretUser, newThingController(newCopier(), newLeading().options))
	}
	for _, c := range clusters {
		each(t, count, func(name string) error { return c.things.create(ctx, name, c.name) })
	}
	for _, c := range clusters {
		c.things.allDone(ctx, t, count)
		c.check(ctx, t, count)
	}
	for _, c := range clusters {
		c.component.end(t)
		c.disconnect(t)
	}
	if err := goleak.Find(before); err != nil {
		t.Error(err)
	}
}

// cluster is one of several, each with things of the same names.
type cluster struct {
	name      string
	cfg       *rest.Config
	kube      kubernetes.Interface
	namespace string
	things    thingClient
	component *component
	watches   func() []string
}

func newCluster(ctx context.Context, t *testing.T, name, namespace string, cfg *rest.Config) *cluster {
	t.Helper()
	cfg = rest.CopyConfig(cfg)
	kube, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	_, err = kube.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return &cluster{name: name, cfg: cfg, kube: kube, namespace: namespace, things: newThingClient(t, cfg, namespace)}
}

// newSecretUser makes a controller that keeps a Secret for each thing.
func (c *cluster) newSecretUser(ctx context.Context, _ configmap.Watcher) *controller.Impl {
	c.watches = func() []string { return injection.Watches(ctx) }
	secrets := secretinformer.Get(ctx)
	impl := generic.For(ctx, things, &secretUser{kube: kubeclient.Get(ctx), secrets: secrets}, func(*controller.Impl) controller.Options {
		return controller.Options{SkipStatusUpdates: true, AgentName: "secrets"}
	})
	if _, err := things.Informer(ctx).AddEventHandler(controller.HandleAll(impl.Enqueue)); err != nil {
		panic(err)
	}
	return impl
}

// check fails the test unless the cluster has what belongs to it.
func (c *cluster) check(ctx context.Context, t *testing.T, count int) {
	t.Helper()
	await(ctx, t, "each thing has its Secret", func(ctx context.Context) (bool, error) {
		list, err := c.kube.CoreV1().Secrets(c.namespace).List(ctx, metav1.ListOptions{LabelSelector: "thing"})
		if err != nil || len(list.Items) != count {
			return false, fmt.Errorf("there are %d: %w", len(list.Items), err)
		}
		for _, s := range list.Items {
			if got := string(s.Data["value"]); got != c.name {
				t.Fatalf("Secret %s of cluster %s has the value %q", s.Name, c.name, got)
			}
		}
		return true, nil
	})
	want := []string{
		"weir.dev/pkg/client/injection/kube/informers/core/v1/secret",
		"weir.dev/pkg/reconciler/generic",
	}
	if d := cmp.Diff(want, c.watches()); d != "" {
		t.Errorf("watches of cluster %s (-want +got):\n%s", c.name, d)
	}
}

// disconnect closes the connections that client-go keeps for the next client
// of the same configuration.
func (c *cluster) disconnect(t *testing.T) {
	t.Helper()
	transport, err := rest.TransportFor(c.cfg)
	if err != nil {
		t.Fatal(err)
	}
	utilnet.CloseIdleConnectionsFor(transport)
}

// secretUser keeps a Secret with the value of each thing.
type secretUser struct {
	kube    kubernetes.Interface
	secrets corev1informers.SecretInformer
}

// ReconcileKind makes the Secret.
func (u *secretUser) ReconcileKind(ctx context.Context, o *Thing) reconciler.Event {
	if _, err := u.secrets.Lister().Secrets(o.Namespace).Get(o.Name); !apierrors.IsNotFound(err) {
		return err
	}
	_, err := u.kube.CoreV1().Secrets(o.Namespace).Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: o.Name, Labels: map[string]string{"thing": o.Name},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(o, things.GroupVersionKind())},
		},
		Data: map[string][]byte{"value": []byte(o.Spec.Value)},
	}, metav1.CreateOptions{})
	return err
}
