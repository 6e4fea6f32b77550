// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package configmap reads configuration from ConfigMaps: watchers that deliver
// them, parsers that read them, and stores that hold the last good value.
// It imports no client; package informer has the watcher of a cluster.
package configmap

import (
	corev1 "k8s.io/api/core/v1"
)

// Observer is called with a ConfigMap that appeared or changed. It must not
// change it.
type Observer func(*corev1.ConfigMap)

// Watcher delivers ConfigMaps to observers.
type Watcher interface {
	// Watch asks for the ConfigMap called name. It must be called before Start.
	Watch(name string, o ...Observer)

	// Start begins to deliver. It returns once every ConfigMap that is watched
	// was delivered once, or with an error naming those that do not exist.
	// Deliveries end when stop is closed.
	Start(stop <-chan struct{}) error
}

// DefaultingWatcher is a Watcher for ConfigMaps that need not exist.
type DefaultingWatcher interface {
	Watcher

	// WatchWithDefault watches the ConfigMap of cm's name and delivers cm while
	// there is none. cm is taken over and must not be changed any more.
	WatchWithDefault(cm corev1.ConfigMap, o ...Observer)
}
