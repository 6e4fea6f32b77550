// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package fake gives injection.Fake, where it is linked, the informer factory
// of the system namespace.
package fake

import (
	"context"

	"k8s.io/client-go/informers"

	_ "weir.dev/pkg/client/injection/kube/client/fake" // the factory's client
	"weir.dev/pkg/injection"
	"weir.dev/pkg/injection/clients/namespacedkube/informers/factory"
)

func init() { injection.Provide(injection.Fake, factory.New) }

// Get returns the factory of the context.
func Get(ctx context.Context) informers.SharedInformerFactory { return factory.Get(ctx) }
