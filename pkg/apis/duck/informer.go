// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package duck

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
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
	informer := cache.NewSharedIndexInformer(f.listWatch(gvr), f.Type.DeepCopyObject(), f.ResyncPeriod,
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

func (f *TypedInformerFactory) listWatch(gvr schema.GroupVersionResource) cache.ListerWatcher {
	client := f.Client.Resource(gvr)
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list, err := client.List(ctx, o)
			if err != nil {
				return nil, err
			}
			typed := f.Type.GetListType()
			if err := fromUnstructured(list.UnstructuredContent(), typed); err != nil {
				return nil, fmt.Errorf("list %s as %T: %w", gvr, typed, err)
			}
			return typed, nil
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			w, err := client.Watch(ctx, o)
			if err != nil {
				return nil, err
			}
			return watch.Filter(w, f.typed), nil
		},
	}, f.Client)
}

// typed turns an event's object into one of the shape's type. One that cannot
// be read ends the watch: the informer must not go on without it.
func (f *TypedInformerFactory) typed(in watch.Event) (watch.Event, bool) {
	u, ok := in.Object.(*unstructured.Unstructured)
	if !ok || in.Type == watch.Error {
		return in, true
	}
	typed := f.Type.DeepCopyObject()
	if err := fromUnstructured(u.UnstructuredContent(), typed); err != nil {
		return watch.Event{Type: watch.Error, Object: &metav1.Status{
			Status: metav1.StatusFailure, Reason: metav1.StatusReasonInternalError, Code: 500,
			Message: fmt.Sprintf("read %s %s/%s as %T: %v", u.GetKind(), u.GetNamespace(), u.GetName(), typed, err),
		}}, true
	}
	in.Object = typed
	return in, true
}

func fromUnstructured(content map[string]any, into runtime.Object) error {
	return runtime.DefaultUnstructuredConverter.FromUnstructured(content, into)
}
