// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package duck

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// CachedInformerFactory keeps the informers that it got, one a resource. What
// failed is tried again: a CRD may be installed later. Its zero value with a
// Delegate is ready to use.
type CachedInformerFactory struct {
	// Delegate makes the informers.
	Delegate InformerFactory

	mu      sync.Mutex
	entries map[schema.GroupVersionResource]*entry
}

// entry is one resource's informer, or the attempt to get it.
type entry struct {
	mu       sync.Mutex
	informer cache.SharedIndexInformer
	lister   cache.GenericLister
}

var _ InformerFactory = (*CachedInformerFactory)(nil)

// Get implements InformerFactory. Resources do not wait for each other.
func (f *CachedInformerFactory) Get(ctx context.Context, gvr schema.GroupVersionResource) (cache.SharedIndexInformer, cache.GenericLister, error) {
	e := f.entry(gvr)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.informer != nil {
		return e.informer, e.lister, nil
	}
	informer, lister, err := f.Delegate.Get(ctx, gvr)
	if err != nil {
		return nil, nil, err
	}
	e.informer, e.lister = informer, lister
	return informer, lister, nil
}

func (f *CachedInformerFactory) entry(gvr schema.GroupVersionResource) *entry {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.entries == nil {
		f.entries = map[schema.GroupVersionResource]*entry{}
	}
	e, ok := f.entries[gvr]
	if !ok {
		e = &entry{}
		f.entries[gvr] = e
	}
	return e
}

// EnqueueInformerFactory adds a handler to each informer that it gets. Below a
// CachedInformerFactory that is once a resource.
type EnqueueInformerFactory struct {
	// Delegate gets the informers.
	Delegate InformerFactory
	// EventHandler sees the objects.
	EventHandler cache.ResourceEventHandler
}

var _ InformerFactory = (*EnqueueInformerFactory)(nil)

// Get implements InformerFactory.
func (f *EnqueueInformerFactory) Get(ctx context.Context, gvr schema.GroupVersionResource) (cache.SharedIndexInformer, cache.GenericLister, error) {
	informer, lister, err := f.Delegate.Get(ctx, gvr)
	if err != nil {
		return nil, nil, err
	}
	if _, err := informer.AddEventHandler(f.EventHandler); err != nil {
		return nil, nil, fmt.Errorf("add a handler to the informer of %s: %w", gvr, err)
	}
	return informer, lister, nil
}
