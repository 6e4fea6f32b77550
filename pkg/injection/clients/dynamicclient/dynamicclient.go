// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package dynamicclient is the accessor of the client of kinds without Go types.
package dynamicclient

import (
	"context"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"weir.dev/pkg/injection"
)

// Key is where contexts hold the client.
type Key struct{}

func init() {
	injection.ProvideClient(injection.Default, Key{}, func(cfg *rest.Config) (dynamic.Interface, error) {
		return dynamic.NewForConfig(cfg)
	})
}

// Get returns the client of the context.
func Get(ctx context.Context) dynamic.Interface {
	return injection.Get[dynamic.Interface](ctx, Key{})
}
