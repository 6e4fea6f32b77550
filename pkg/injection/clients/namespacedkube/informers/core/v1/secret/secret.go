// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package secret is the accessor of the informer of the system namespace's
// Secrets.
package secret

import (
	"context"

	corev1 "k8s.io/client-go/informers/core/v1"

	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection"
	"weir.dev/pkg/injection/clients/namespacedkube/informers/factory"
)

// Key is where contexts hold the informer.
type Key struct{}

func init() { injection.ProvideInformer(injection.Default, New) }

// New makes the informer of a set.
func New(ctx context.Context, _ Key) (corev1.SecretInformer, controller.Informer) {
	informer := factory.Get(ctx).Core().V1().Secrets()
	return informer, informer.Informer()
}

// Get returns the informer of the context, which is started with its set.
func Get(ctx context.Context) corev1.SecretInformer {
	return injection.Get[corev1.SecretInformer](ctx, Key{})
}
