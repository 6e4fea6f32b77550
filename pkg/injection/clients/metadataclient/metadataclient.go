// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package metadataclient is the accessor of the client of objects' metadata.
package metadataclient

import (
	"context"

	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"weir.dev/pkg/injection"
)

// Key is where contexts hold the client.
type Key struct{}

func init() {
	injection.ProvideClient(injection.Default, Key{}, func(cfg *rest.Config) (metadata.Interface, error) {
		return metadata.NewForConfig(cfg)
	})
}

// Get returns the client of the context.
func Get(ctx context.Context) metadata.Interface {
	return injection.Get[metadata.Interface](ctx, Key{})
}
