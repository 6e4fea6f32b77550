// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package fake, linked, gives injection.Fake a fake client of metadata.
package fake

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/fake"

	"weir.dev/pkg/injection"
	"weir.dev/pkg/injection/clients/metadataclient"
)

func init() {
	injection.Provide(injection.Fake, func(context.Context, metadataclient.Key) (metadata.Interface, error) {
		return newClient()
	})
	injection.Fake.RegisterClientFetcher(func(ctx context.Context) any { return Get(ctx) })
}

func newClient(objects ...runtime.Object) (*fake.FakeMetadataClient, error) {
	scheme := fake.NewTestScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		return nil, err
	}
	return fake.NewSimpleMetadataClient(scheme, objects...), nil
}

// With returns a context with a fake client that holds the objects, which are
// PartialObjectMetadata with their kind.
func With(ctx context.Context, objects ...runtime.Object) (context.Context, *fake.FakeMetadataClient) {
	client, err := newClient(objects...)
	if err != nil {
		panic(err) // the scheme is fixed
	}
	return context.WithValue(ctx, metadataclient.Key{}, client), client
}

// Get returns the fake client of the context.
func Get(ctx context.Context) *fake.FakeMetadataClient {
	return injection.Get[*fake.FakeMetadataClient](ctx, metadataclient.Key{})
}
