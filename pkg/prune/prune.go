// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package prune drops from cached objects what no controller reads, so that
// caches stay small. Its functions are informer transforms.
package prune

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
)

var _ cache.TransformFunc = ManagedFields

// ManagedFields drops metadata.managedFields. An object without them can be
// written back: an update that leaves them out keeps them.
func ManagedFields(obj any) (any, error) {
	// What has no metadata (a tombstone) passes as it is.
	if accessor, err := meta.Accessor(obj); err == nil && accessor.GetManagedFields() != nil {
		accessor.SetManagedFields(nil)
	}
	return obj, nil
}

// Chain applies the transforms in order.
func Chain(transforms ...cache.TransformFunc) cache.TransformFunc {
	return func(obj any) (any, error) {
		for _, transform := range transforms {
			next, err := transform(obj)
			if err != nil {
				return nil, err
			}
			obj = next
		}
		return obj, nil
	}
}
