// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package tracker tells a controller that objects changed that its own objects
// refer to, without owning them. It knows no queue and no informer: handlers
// feed it, and it calls back.
package tracker

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"

	"weir.dev/pkg/kmeta"
)

// Interface is what reconcilers and event handlers use of a tracker.
type Interface interface {
	// Track is TrackReference of one object.
	Track(ref corev1.ObjectReference, obj any) error
	// TrackReference notes that obj depends on what ref names, until the
	// tracker's lease ends. Reconcilers call it on every run.
	TrackReference(ref Reference, obj any) error
	// OnChanged calls back for the objects that depend on obj.
	OnChanged(obj any)
	// GetObservers returns the keys of the objects that depend on obj.
	GetObservers(obj any) []types.NamespacedName
	// OnDeletedObserver forgets what the deleted obj depended on.
	OnDeletedObserver(obj any)
}

// New returns a tracker that calls callback with the key of each object whose
// dependency changed, or was newly noted: it may have changed while nobody
// tracked it.
func New(callback func(types.NamespacedName), lease time.Duration) Interface {
	return &tracker{
		lease:    lease,
		callback: callback,
		now:      time.Now,
		exact:    map[Reference]observers{},
		selected: map[Reference]map[types.NamespacedName]selection{},
	}
}

// observers are keys with the end of their lease.
type observers map[types.NamespacedName]time.Time

type selection struct {
	selector labels.Selector
	expires  time.Time
}

type tracker struct {
	lease    time.Duration
	callback func(types.NamespacedName)
	now      func() time.Time

	mu       sync.Mutex
	exact    map[Reference]observers                          // by reference without selector
	selected map[Reference]map[types.NamespacedName]selection // by reference without name and selector
}

// Track implements Interface.
func (t *tracker) Track(ref corev1.ObjectReference, obj any) error {
	return t.TrackReference(Reference{
		APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name,
	}, obj)
}

// TrackReference implements Interface.
func (t *tracker) TrackReference(ref Reference, obj any) error {
	if err := ref.Validate(context.Background()); err != nil {
		return fmt.Errorf("invalid reference: %w", err)
	}
	object, err := kmeta.DeletionHandlingAccessor(obj)
	if err != nil {
		return err
	}
	isNew, err := t.note(ref, keyOf(object))
	if err != nil {
		return err
	}
	if isNew {
		t.callback(keyOf(object))
	}
	return nil
}

// note records the reference and tells whether there was none in force.
func (t *tracker) note(ref Reference, key types.NamespacedName) (bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if ref.Selector == nil {
		return t.noteExact(ref, key), nil
	}
	selector, err := metav1.LabelSelectorAsSelector(ref.Selector)
	if err != nil {
		return false, fmt.Errorf("invalid selector: %w", err)
	}
	ref.Selector = nil
	return t.noteSelection(ref, selector, key), nil
}

func (t *tracker) noteExact(ref Reference, key types.NamespacedName) bool {
	if t.exact[ref] == nil {
		t.exact[ref] = observers{}
	}
	expires, known := t.exact[ref][key]
	t.exact[ref][key] = t.now().Add(t.lease)
	return !known || t.expired(expires)
}

func (t *tracker) noteSelection(ref Reference, selector labels.Selector, key types.NamespacedName) bool {
	if t.selected[ref] == nil {
		t.selected[ref] = map[types.NamespacedName]selection{}
	}
	old, known := t.selected[ref][key]
	t.selected[ref][key] = selection{selector: selector, expires: t.now().Add(t.lease)}
	return !known || t.expired(old.expires) || old.selector.String() != selector.String()
}

func (t *tracker) expired(expires time.Time) bool { return t.now().After(expires) }

// OnChanged implements Interface.
func (t *tracker) OnChanged(obj any) {
	for _, key := range t.GetObservers(obj) {
		t.callback(key)
	}
}

// GetObservers implements Interface.
func (t *tracker) GetObservers(obj any) []types.NamespacedName {
	object, err := kmeta.DeletionHandlingAccessor(obj)
	if err != nil {
		return nil
	}
	ref := referenceTo(object)

	t.mu.Lock()
	defer t.mu.Unlock()
	keys := t.exactObservers(ref)
	ref.Name = ""
	return append(keys, t.selectingObservers(ref, labels.Set(object.GetLabels()))...)
}

// referenceTo names obj. Objects out of a lister often have no type metadata;
// those of Kubernetes itself are then known by their Go type.
func referenceTo(obj kmeta.Accessor) Reference {
	ref := kmeta.ObjectReference(obj)
	if ref.Kind == "" {
		if kinds, _, err := scheme.Scheme.ObjectKinds(obj); err == nil && len(kinds) > 0 {
			ref.APIVersion, ref.Kind = kinds[0].ToAPIVersionAndKind()
		}
	}
	return Reference{APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name}
}

func (t *tracker) exactObservers(ref Reference) []types.NamespacedName {
	var keys []types.NamespacedName
	for key, expires := range t.exact[ref] {
		if t.expired(expires) {
			delete(t.exact[ref], key)
			continue
		}
		keys = append(keys, key)
	}
	if len(t.exact[ref]) == 0 {
		delete(t.exact, ref)
	}
	return keys
}

func (t *tracker) selectingObservers(ref Reference, set labels.Set) []types.NamespacedName {
	var keys []types.NamespacedName
	for key, s := range t.selected[ref] {
		switch {
		case t.expired(s.expires):
			delete(t.selected[ref], key)
		case s.selector.Matches(set):
			keys = append(keys, key)
		}
	}
	if len(t.selected[ref]) == 0 {
		delete(t.selected, ref)
	}
	return keys
}

// OnDeletedObserver implements Interface.
func (t *tracker) OnDeletedObserver(obj any) {
	object, err := kmeta.DeletionHandlingAccessor(obj)
	if err != nil {
		return
	}
	key := keyOf(object)

	t.mu.Lock()
	defer t.mu.Unlock()
	for ref, keys := range t.exact {
		delete(keys, key)
		if len(keys) == 0 {
			delete(t.exact, ref)
		}
	}
	for ref, keys := range t.selected {
		delete(keys, key)
		if len(keys) == 0 {
			delete(t.selected, ref)
		}
	}
}
