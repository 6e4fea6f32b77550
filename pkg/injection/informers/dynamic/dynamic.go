// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package dynamic is the accessor of informers of whatever resource, without Go
// types: for who learns at run time what it is about. With a Go type, package
// weir.dev/pkg/reconciler/generic does the same.
package dynamic

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection"
	"weir.dev/pkg/injection/clients/dynamicclient"
)

// Key is where contexts hold the informer of a resource and label selector.
type Key struct {
	Resource schema.GroupVersionResource
	Selector string
}

// Get returns the informer of a resource, which is started with its set. Its
// objects are *unstructured.Unstructured.
func Get(ctx context.Context, resource schema.GroupVersionResource) informers.GenericInformer {
	return GetFiltered(ctx, resource, "")
}

// GetFiltered is Get for the objects that a label selector selects.
func GetFiltered(ctx context.Context, resource schema.GroupVersionResource, selector string) informers.GenericInformer {
	return injection.Share(ctx, Key{Resource: resource, Selector: selector}, func(ctx context.Context) (informers.GenericInformer, controller.Informer) {
		informer := dynamicinformer.NewFilteredDynamicInformer(
			dynamicclient.Get(ctx), resource, injection.GetNamespaceScope(ctx), controller.GetResyncPeriod(ctx),
			cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
			func(o *metav1.ListOptions) { o.LabelSelector = selector },
		)
		// Fails on an informer that was started only.
		_ = informer.Informer().SetTransform(injection.GetTransform(ctx))
		return informer, informer.Informer()
	})
}
