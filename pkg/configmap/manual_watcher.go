// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package configmap

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// ManualWatcher delivers what its owner hands to OnChange. Its zero value
// delivers ConfigMaps of namespace "".
type ManualWatcher struct {
	// Namespace is the namespace whose ConfigMaps are delivered; others are ignored.
	Namespace string

	mu        sync.RWMutex
	observers map[string][]Observer
}

var _ Watcher = (*ManualWatcher)(nil)

// Watch implements Watcher.
func (w *ManualWatcher) Watch(name string, o ...Observer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.observers == nil {
		w.observers = make(map[string][]Observer, 1)
	}
	w.observers[name] = append(w.observers[name], o...)
}

// Start implements Watcher; there is nothing to wait for.
func (w *ManualWatcher) Start(<-chan struct{}) error { return nil }

// Watches tells whether anybody watches the ConfigMap called name.
func (w *ManualWatcher) Watches(name string) bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return len(w.observers[name]) > 0
}

// OnChange delivers cm to those who watch it.
func (w *ManualWatcher) OnChange(cm *corev1.ConfigMap) {
	if cm == nil || cm.Namespace != w.Namespace {
		return
	}
	w.mu.RLock()
	observers := w.observers[cm.Name]
	w.mu.RUnlock()
	for _, o := range observers {
		o(cm)
	}
}
