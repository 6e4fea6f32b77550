// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package registration keeps right what the API server was told of webhooks:
// webhook configurations and CRDs, which are installed beforehand and lack what
// only the running webhook knows, among it the certification authority in the
// webhook's Secret. Every replica serves; the leader alone writes, and only
// what has changed. It knows nothing of what webhooks do.
package registration

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection/clients/namespacedkube/informers/core/v1/secret"
	"weir.dev/pkg/logging"
	"weir.dev/pkg/reconciler"
	"weir.dev/pkg/system"
	"weir.dev/pkg/webhook"
)

// CABundle is the key of the certification authorities in the webhook's Secret.
const CABundle = "ca-cert.pem"

// Object is an object without a namespace that names webhooks.
type Object interface {
	metav1.Object
	runtime.Object
}

// Config is what an Upkeep of objects T needs.
type Config[T Object] struct {
	// Names of the objects.
	Names []string
	// Informer of the kind.
	Informer cache.SharedIndexInformer
	// Get returns an object as the informer knows it.
	Get func(name string) (T, error)
	// Update writes an object.
	Update func(ctx context.Context, obj T, opts metav1.UpdateOptions) (T, error)
	// Complete changes obj, a copy, to what it is to be.
	Complete func(ctx context.Context, obj T, caBundle []byte) error
}

// Upkeep reconciles objects that name webhooks. It is to be embedded in the
// reconcilers that answer their requests.
type Upkeep[T Object] struct {
	reconciler.LeaderAwareFuncs

	cfg       Config[T]
	namespace string
	secret    string // its name
	secrets   corev1listers.SecretNamespaceLister
	watch     cache.SharedIndexInformer // of Secrets
}

// New returns an upkeep by the webhook.Options of the context.
func New[T Object](ctx context.Context, cfg Config[T]) *Upkeep[T] {
	informer := secret.Get(ctx)
	u := &Upkeep[T]{
		cfg:       cfg,
		namespace: system.NamespaceOf(ctx),
		secret:    webhook.RequireOptions(ctx).SecretName,
		watch:     informer.Informer(),
	}
	u.secrets = informer.Lister().Secrets(u.namespace)
	u.PromoteFunc = func(b reconciler.Bucket, enqueue func(reconciler.Bucket, types.NamespacedName)) error {
		u.all(func(key types.NamespacedName) { enqueue(b, key) })
		return nil
	}
	return u
}

// Reconcile writes what is missing in the object of that name.
func (u *Upkeep[T]) Reconcile(ctx context.Context, name string) error {
	if !u.IsLeaderFor(types.NamespacedName{Name: name}) {
		return controller.NewSkipKey(name)
	}
	have, err := u.cfg.Get(name)
	if err != nil { // its installation enqueues it
		return controller.NewPermanentError(fmt.Errorf("registration of the webhook: %w", err))
	}
	caBundle, err := u.caBundle()
	if err != nil { // so does the Secret's
		return controller.NewPermanentError(fmt.Errorf("registration of the webhook: %w", err))
	}
	if len(caBundle) == 0 {
		logging.FromContext(ctx).Debugw("The secret has no certificate yet", "secret", u.secret)
		return nil
	}
	want, ok := have.DeepCopyObject().(T)
	if !ok {
		return controller.NewPermanentError(errors.New("the copy is of another type"))
	}
	if err := u.cfg.Complete(ctx, want, caBundle); err != nil {
		return fmt.Errorf("registration %s: %w", name, err)
	}
	if equality.Semantic.DeepEqual(have, want) {
		return nil
	}
	if _, err := u.cfg.Update(ctx, want, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("write registration %s: %w", name, err)
	}
	return nil
}

func (u *Upkeep[T]) caBundle() ([]byte, error) {
	found, err := u.secrets.Get(u.secret)
	if err != nil {
		return nil, err
	}
	return found.Data[CABundle], nil
}

// Watch enqueues the objects when they, or the Secret, change.
func (u *Upkeep[T]) Watch(impl *controller.Impl) {
	named := func(obj any) bool {
		return slices.ContainsFunc(u.cfg.Names, func(name string) bool { return controller.FilterWithName(name)(obj) })
	}
	handle(u.cfg.Informer, named, impl.Enqueue)
	handle(u.watch, controller.FilterWithNameAndNamespace(u.namespace, u.secret), func(any) { u.all(impl.EnqueueKey) })
}

// handle adds a handler, which fails on an informer that has ended only.
func handle(informer cache.SharedIndexInformer, wanted func(any) bool, do func(any)) {
	_, _ = informer.AddEventHandler(cache.FilteringResourceEventHandler{FilterFunc: wanted, Handler: controller.HandleAll(do)})
}

func (u *Upkeep[T]) all(enqueue func(types.NamespacedName)) {
	for _, name := range u.cfg.Names {
		enqueue(types.NamespacedName{Name: name})
	}
}
