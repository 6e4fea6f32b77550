// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"

	kubeclient "weir.dev/pkg/client/injection/kube/client"
	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection/clients/namespacedkube/informers/core/v1/secret"
	"weir.dev/pkg/logging"
	"weir.dev/pkg/network"
	"weir.dev/pkg/reconciler"
	"weir.dev/pkg/system"
	"weir.dev/pkg/webhook"
)

// secretReconciler fills one Secret.
type secretReconciler struct {
	reconciler.LeaderAwareFuncs

	key     types.NamespacedName
	secrets corev1client.SecretInterface
	keys    keys
	hosts   []string
	now     func() time.Time
	// authorityLifetime is how long a new authority lasts.
	authorityLifetime time.Duration
}

// NewController returns a controller that keeps certificates for the k8s Service
// of the webhook.Options in their Secret, which is installed already: a private
// key (server-key.pem) and a certificate (server-cert.pem) to serve with, the
// authorities to tell clients (ca-cert.pem), and the first one's key
// (ca-key.pem).
func NewController(ctx context.Context, _ configmap.Watcher) *controller.Impl {
	return newController(ctx, time.Now, authorityLifetime)
}

func newController(ctx context.Context, now func() time.Time, lifetime time.Duration) *controller.Impl {
	opts, namespace, informer := webhook.RequireOptions(ctx), system.NamespaceOf(ctx), secret.Get(ctx)
	r := &secretReconciler{
		key:     types.NamespacedName{Namespace: namespace, Name: opts.SecretName},
		secrets: kubeclient.Get(ctx).CoreV1().Secrets(namespace),
		keys: keys{
			serverKey: opts.ServerPrivateKeyName, serverCert: opts.ServerCertificateName, caCert: CACert, caKey: CAKey,
		},
		hosts:             hostsOf(opts.ServiceName, namespace),
		now:               now,
		authorityLifetime: lifetime,
	}
	r.PromoteFunc = func(b reconciler.Bucket, enqueue func(reconciler.Bucket, types.NamespacedName)) error {
		enqueue(b, r.key)
		return nil
	}
	impl := controller.NewContext(ctx, r, controller.ControllerOptions{WorkQueueName: "WebhookCertificates"})
	_, _ = informer.Informer().AddEventHandler(cache.FilteringResourceEventHandler{ // fails on an informer that has ended only
		FilterFunc: controller.FilterWithNameAndNamespace(r.key.Namespace, r.key.Name),
		Handler:    controller.HandleAll(impl.Enqueue),
	})
	return impl
}

// hostsOf are the names of a k8s Service, first the one that the API server uses.
func hostsOf(service, namespace string) []string {
	return []string{
		service + "." + namespace + ".svc",
		service + "." + namespace,
		service,
		network.GetServiceHostname(service, namespace),
	}
}

// Reconcile renews what is due, and asks to be called when something is next.
// It reads the Secret itself, which is seldom: by a cache that is behind another
// authority would be made in the place of one that clients have been told of.
func (r *secretReconciler) Reconcile(ctx context.Context, key string) error {
	if !r.IsLeaderFor(r.key) {
		return controller.NewSkipKey(key)
	}
	found, err := r.secrets.Get(ctx, r.key.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) { // its installation enqueues it
		return controller.NewPermanentError(fmt.Errorf("certificates of the webhook: %w", err))
	}
	if err != nil {
		return fmt.Errorf("read secret %s: %w", r.key, err)
	}
	m := r.keys.parse(found.Data)
	changed, next, err := m.renew(r.hosts, r.now(), r.authorityLifetime)
	if err != nil {
		return err
	}
	if changed {
		if err := r.write(ctx, found, m); err != nil {
			return err
		}
	}
	return controller.NewRequeueAfter(next.Sub(r.now()))
}

func (r *secretReconciler) write(ctx context.Context, secret *corev1.Secret, m material) error {
	var err error
	if secret.Data, err = r.keys.write(m, secret.Data); err != nil {
		return err
	}
	if _, err := r.secrets.Update(ctx, secret, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("write certificates to secret %s: %w", r.key, err)
	}
	logging.FromContext(ctx).Infow("Renewed the webhook's certificates", "until", m.serving.Leaf.NotAfter)
	return nil
}
