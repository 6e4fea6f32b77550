// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
)

// syncPoll is how often WaitForCacheSyncQuick looks.
const syncPoll = time.Millisecond

// Informer is what starting needs of an informer.
type Informer interface {
	Run(stop <-chan struct{})
	HasSynced() bool
}

// StartInformers starts the informers and waits until they have synced.
func StartInformers(stop <-chan struct{}, informers ...Informer) error {
	for _, informer := range informers {
		go informer.Run(stop)
	}
	return waitForInformers(stop, informers)
}

// RunInformers is StartInformers and returns, second, a function that waits
// until the informers, which end with stop, have ended.
func RunInformers(stop <-chan struct{}, informers ...Informer) (func(), error) {
	var wg sync.WaitGroup
	for _, informer := range informers {
		wg.Go(func() { informer.Run(stop) })
	}
	return wg.Wait, waitForInformers(stop, informers)
}

func waitForInformers(stop <-chan struct{}, informers []Informer) error {
	for i, informer := range informers {
		if !WaitForCacheSyncQuick(stop, informer.HasSynced) {
			return fmt.Errorf("informer %d of %d did not sync before the end", i+1, len(informers))
		}
	}
	return nil
}

// WaitForCacheSyncQuick waits until all caches have synced, looking far more
// often than cache.WaitForCacheSync does. It returns false when stop was first.
func WaitForCacheSyncQuick(stop <-chan struct{}, synced ...cache.InformerSynced) bool {
	tick := time.NewTicker(syncPoll)
	defer tick.Stop()
	for _, has := range synced {
		for !has() {
			select {
			case <-stop:
				return false
			case <-tick.C:
			}
		}
	}
	return true
}

// StartAll runs the controllers until ctx ends and returns once all have ended.
func StartAll(ctx context.Context, controllers ...*Impl) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, len(controllers))
	var wg sync.WaitGroup
	for i, c := range controllers {
		wg.Go(func() {
			if errs[i] = c.Run(ctx); errs[i] != nil {
				cancel() // the others are no use without it
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
