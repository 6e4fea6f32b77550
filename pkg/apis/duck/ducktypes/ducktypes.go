// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package ducktypes holds what a shape is, without the machinery that works
// with shapes: API types import it and stay free of client-go. Everybody else
// knows these names from package duck.
package ducktypes

import "weir.dev/pkg/apis"

// Implementable is a shape that other types can have.
type Implementable interface {
	// GetFullType returns an empty resource that has nothing but this shape.
	GetFullType() Populatable
}

// Populatable is a resource of a shape that can fill itself with sample data.
type Populatable interface {
	apis.Listable

	// Populate sets every field that the shape has.
	Populate()
}
