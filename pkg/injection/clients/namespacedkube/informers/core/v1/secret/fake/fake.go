// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package fake gives injection.Fake, where it is linked, the informer of the
// system namespace's Secrets.
package fake

import (
	"context"

	corev1 "k8s.io/client-go/informers/core/v1"

	"weir.dev/pkg/injection"
	"weir.dev/pkg/injection/clients/namespacedkube/informers/core/v1/secret"
	_ "weir.dev/pkg/injection/clients/namespacedkube/informers/factory/fake" // the informer's factory
)

func init() { injection.ProvideInformer(injection.Fake, secret.New) }

// Get returns the informer of the context, which is started with its set.
func Get(ctx context.Context) corev1.SecretInformer { return secret.Get(ctx) }
