// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package configmap

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// NewStaticWatcher returns a watcher that delivers each of cms once, at Watch.
// Watching any other name panics: with a fixed set that is a mistake in the
// program.
func NewStaticWatcher(cms ...*corev1.ConfigMap) *StaticWatcher {
	w := &StaticWatcher{cms: make(map[string]*corev1.ConfigMap, len(cms))}
	for _, cm := range cms {
		w.cms[cm.Name] = cm
	}
	return w
}

// StaticWatcher delivers a fixed set of ConfigMaps.
type StaticWatcher struct {
	cms map[string]*corev1.ConfigMap
}

var _ DefaultingWatcher = (*StaticWatcher)(nil)

// Watch implements Watcher.
func (w *StaticWatcher) Watch(name string, o ...Observer) {
	cm, ok := w.cms[name]
	if !ok {
		panic(fmt.Sprintf("configmap: %q is watched but not among the static ConfigMaps", name))
	}
	deliver(cm, o)
}

// WatchWithDefault implements DefaultingWatcher.
func (w *StaticWatcher) WatchWithDefault(cm corev1.ConfigMap, o ...Observer) {
	if have, ok := w.cms[cm.Name]; ok {
		deliver(have, o)
		return
	}
	deliver(&cm, o)
}

// Start implements Watcher; everything was delivered at Watch.
func (w *StaticWatcher) Start(<-chan struct{}) error { return nil }

func deliver(cm *corev1.ConfigMap, observers []Observer) {
	for _, o := range observers {
		o(cm)
	}
}
