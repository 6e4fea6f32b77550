// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"fmt"

	"k8s.io/client-go/tools/cache"
)

// Informers are the sources of the feed. Pods may hold all pods or only those with the label
// serving.knative.dev/revisionUID.
type Informers struct {
	Ingresses      cache.SharedInformer
	Revisions      cache.SharedInformer
	Pods           cache.SharedInformer
	Services       cache.SharedInformer
	EndpointSlices cache.SharedInformer
}

// subscribe hands every event to d. The results say when all that was there at first has been.
func (i Informers) subscribe(d *desired) ([]cache.InformerSynced, error) {
	var synced []cache.InformerSynced
	for _, s := range []struct {
		name     string
		informer cache.SharedInformer
		handler  cache.ResourceEventHandler
	}{
		{"Revisions", i.Revisions, handle(d.setRevision, d.removeRevision)},
		{"Pods", i.Pods, handle(d.setPod, d.removePod)},
		{"Services", i.Services, handle(d.setService, d.removeService)},
		{"EndpointSlices", i.EndpointSlices, handle(d.setSlice, d.removeSlice)},
		{"Ingresses", i.Ingresses, handle(d.setIngress, d.removeIngress)},
	} {
		if s.informer == nil {
			return nil, fmt.Errorf("no informer of %s", s.name)
		}
		registration, err := s.informer.AddEventHandler(s.handler)
		if err != nil {
			return nil, fmt.Errorf("watch %s: %w", s.name, err)
		}
		synced = append(synced, registration.HasSynced)
	}
	return synced, nil
}

// handle calls set for what is and removed for what no longer is.
func handle[T any](set, removed func(T)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { set(obj.(T)) },
		UpdateFunc: func(_, obj any) { set(obj.(T)) },
		DeleteFunc: func(obj any) {
			if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = tombstone.Obj
			}
			if last, ok := obj.(T); ok {
				removed(last)
			}
		},
	}
}
