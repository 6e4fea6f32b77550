// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package fake, linked, gives injection.Fake a fake dynamic client, which knows
// Kubernetes' own kinds.
package fake

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/scheme"

	"weir.dev/pkg/injection"
	"weir.dev/pkg/injection/clients/dynamicclient"
)

func init() {
	injection.Provide(injection.Fake, func(context.Context, dynamicclient.Key) (dynamic.Interface, error) {
		return fake.NewSimpleDynamicClient(scheme.Scheme), nil
	})
	injection.Fake.RegisterClientFetcher(func(ctx context.Context) any { return Get(ctx) })
}

// With returns a context with a fake client that knows the kinds of the scheme
// and holds the objects.
func With(ctx context.Context, scheme *runtime.Scheme, objects ...runtime.Object) (context.Context, *fake.FakeDynamicClient) {
	client := fake.NewSimpleDynamicClient(scheme, objects...)
	return context.WithValue(ctx, dynamicclient.Key{}, client), client
}

// Get returns the fake client of the context.
func Get(ctx context.Context) *fake.FakeDynamicClient {
	return injection.Get[*fake.FakeDynamicClient](ctx, dynamicclient.Key{})
}
