// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package reconciler holds what a reconciler is made of: the events it returns,
// leadership, filters for event handlers, retries, and the upkeep of status.
// It knows neither queues nor informers (package controller) nor any kind;
// package engine puts both together.
package reconciler

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// DefaultTimeout bounds a reconcile for callers that bound it.
const DefaultTimeout = 30 * time.Second

// The names of the methods that one run of a key may call.
const (
	DoReconcileKind       = "ReconcileKind"
	DoFinalizeKind        = "FinalizeKind"
	DoObserveKind         = "ObserveKind"
	DoObserveFinalizeKind = "ObserveFinalizeKind"
)

// OnDeletionInterface is implemented by a reconciler that wants to hear that
// an object is gone.
type OnDeletionInterface interface {
	// ObserveDeletion is called with the key of an object that no longer
	// exists. It may be called for a key that never did.
	ObserveDeletion(ctx context.Context, key types.NamespacedName) error
}

// ConfigStore puts a consistent snapshot of configuration into the context of
// a reconcile.
type ConfigStore interface {
	ToContext(ctx context.Context) context.Context
}

// ConfigStores are several stores as one.
type ConfigStores []ConfigStore

var _ ConfigStore = ConfigStores{}

// ToContext implements ConfigStore.
func (s ConfigStores) ToContext(ctx context.Context) context.Context {
	for _, store := range s {
		ctx = store.ToContext(ctx)
	}
	return ctx
}
