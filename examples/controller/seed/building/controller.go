// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package building is the section "Building Controllers" with "Implementing
// Reconcilers".
package building

import (
	"context"

	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/logging"
)

// NewController is the constructor to start with.
func NewController(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
	logger := logging.FromContext(ctx)

	// TODO(you): Access informers

	c := &Reconciler{
		// TODO(you): Pass listers, clients, and other stuff.
		Seen: make(chan string, 1),
	}
	impl := controller.NewImpl(c, logger, "NameOfController")

	// TODO(you): Set up event handlers.

	return impl
}

// Reconciler is expected to implement Reconcile.
type Reconciler struct {
	// Seen gets the keys.
	Seen chan string
}

// Reconcile implements controller.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, key string) error {
	r.Seen <- key
	return nil
}
