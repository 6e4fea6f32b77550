// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package duck

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"

	"weir.dev/pkg/apis"
)

// InformerFactory makes informers of resources that are known by their shape
// only.
type InformerFactory interface {
	// Get returns a running informer of the resource, in sync, and a lister on
	// its cache. Objects are of the shape's type.
	Get(ctx context.Context, gvr schema.GroupVersionResource) (cache.SharedIndexInformer, cache.GenericLister, error)
}

// TypedInformerFactory makes a new informer at each Get.
type TypedInformerFactory struct {
	// Client reads the resources.
	Client dynamic.Interface
	// Type is the shape's type, as in &AddressableType{}.
	Type apis.Listable
	// ResyncPeriod is how often handlers see all objects again; 0 is never.
	ResyncPeriod time.Duration
	// StopChannel ends the informers when it is closed.
	StopChannel <-chan struct{}
}

var _ InformerFactory = (*TypedInformerFactory)(nil)

// Get implements InformerFactory. It fails at once if the API server does not
// serve the resource, or not to us, and when ctx ends before the cache is in
// sync; the informer is then stopped again.
func (f *TypedInformerFactory) Get(ctx context.Context, gvr schema.GroupVersionResource) (cache.SharedIndexInformer, cache.GenericLister, error) {
	running, stop := context.WithCancelCause(wait.ContextForChannel(f.StopChannel))
	informer := cache.NewSharedIndexInformer(ListWatch(f.Client.Resource(gvr), f.Client, f.Type), f.Type.DeepCopyObject(), f.ResyncPeriod,
		cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	if err := informer.SetWatchErrorHandlerWithContext(func(watching context.Context, r *cache.Reflector, err error) {
		if !informer.HasSynced() && isRefusal(err) {
			stop(err)
			return
		}
		cache.DefaultWatchErrorHandler(watching, r, err)
	}); err != nil {
		stop(err)
		return nil, nil, fmt.Errorf("informer of %s: %w", gvr, err)
	}
	go informer.RunWithContext(running) //nolint:contextcheck // the informer outlives the call
	detach := context.AfterFunc(ctx, func() { stop(context.Cause(ctx)) })
	synced := cache.WaitForCacheSync(running.Done(), informer.HasSynced)
	detach()
	if !synced || running.Err() != nil {
		return nil, nil, fmt.Errorf("informer of %s does not sync: %w", gvr, context.Cause(running)) //nolint:contextcheck // as above
	}
	return informer, cache.NewGenericLister(informer.GetIndexer(), gvr.GroupResource()), nil
}

// isRefusal tells errors that trying again does not cure.
func isRefusal(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) || apierrors.IsForbidden(err)
}
