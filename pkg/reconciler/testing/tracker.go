// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package testing

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"weir.dev/pkg/kmeta"
	"weir.dev/pkg/tracker"
)

// FakeTracker records what is tracked and calls nobody back.
type FakeTracker struct {
	mu         sync.Mutex
	references []tracked
}

type tracked struct {
	ref      tracker.Reference
	observer types.NamespacedName
}

var _ tracker.Interface = (*FakeTracker)(nil)

// Track implements tracker.Interface.
func (f *FakeTracker) Track(ref corev1.ObjectReference, obj any) error {
	return f.TrackReference(tracker.Reference{
		APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name,
	}, obj)
}

// TrackReference implements tracker.Interface.
func (f *FakeTracker) TrackReference(ref tracker.Reference, obj any) error {
	object, err := kmeta.DeletionHandlingAccessor(obj)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.references = append(f.references, tracked{ref, types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}})
	return nil
}

// OnChanged implements tracker.Interface.
func (f *FakeTracker) OnChanged(any) {}

// GetObservers implements tracker.Interface.
func (f *FakeTracker) GetObservers(obj any) []types.NamespacedName {
	object, err := kmeta.DeletionHandlingAccessor(obj)
	if err != nil {
		return nil
	}
	ref := kmeta.ObjectReference(object)
	f.mu.Lock()
	defer f.mu.Unlock()
	var keys []types.NamespacedName
	for _, t := range f.references {
		if t.ref.ObjectReference() == ref {
			keys = append(keys, t.observer)
		}
	}
	return keys
}

// OnDeletedObserver implements tracker.Interface.
func (f *FakeTracker) OnDeletedObserver(obj any) {
	object, err := kmeta.DeletionHandlingAccessor(obj)
	if err != nil {
		return
	}
	gone := types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
	f.mu.Lock()
	defer f.mu.Unlock()
	kept := f.references[:0]
	for _, t := range f.references {
		if t.observer != gone {
			kept = append(kept, t)
		}
	}
	f.references = kept
}

// References are what was tracked, in order.
func (f *FakeTracker) References() []tracker.Reference {
	f.mu.Lock()
	defer f.mu.Unlock()
	refs := make([]tracker.Reference, 0, len(f.references))
	for _, t := range f.references {
		refs = append(refs, t.ref)
	}
	return refs
}
