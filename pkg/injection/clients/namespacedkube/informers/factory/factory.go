// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package factory is the accessor of the informer factory of the system
// namespace: what a component needs of its own namespace must not make it
// watch, and be allowed to read, that kind everywhere.
package factory

import (
	"context"

	"k8s.io/client-go/informers"

	"weir.dev/pkg/client/injection/kube/client"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection"
	"weir.dev/pkg/system"
)

// Key is where contexts hold the factory.
type Key struct{}

func init() { injection.Provide(injection.Default, New) }

// New makes the factory of a set. The namespace scope of ctx does not count.
func New(ctx context.Context, _ Key) (informers.SharedInformerFactory, error) {
	return informers.NewSharedInformerFactoryWithOptions(client.Get(ctx), controller.GetResyncPeriod(ctx),
		informers.WithNamespace(system.NamespaceOf(ctx)),
		informers.WithTransform(injection.GetTransform(ctx)),
	), nil
}

// Get returns the factory of the context.
func Get(ctx context.Context) informers.SharedInformerFactory {
	return injection.Get[informers.SharedInformerFactory](ctx, Key{})
}
