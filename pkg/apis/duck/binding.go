// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package duck

import "weir.dev/pkg/kmeta"

// Labels by which namespaces, and subjects, ask for bindings or forbid them
// where a webhook binds. Their value is "true".
const (
	// BindingIncludeLabel asks for bindings where they need it.
	BindingIncludeLabel = "bindings.knative.dev/include"
	// BindingExcludeLabel forbids bindings.
	BindingExcludeLabel = "bindings.knative.dev/exclude"
)

// OneOfOurs is an object of a kind with a Go type that knows its own name.
type OneOfOurs interface {
	kmeta.Accessor
	kmeta.OwnerRefable
}

// BindableStatus is the status of a binding.
type BindableStatus interface {
	// InitializeConditions makes the conditions exist.
	InitializeConditions()
	// MarkBindingUnavailable says why the subjects are not bound.
	MarkBindingUnavailable(reason, message string)
	// MarkBindingAvailable says that the subjects are bound.
	MarkBindingAvailable()
	// SetObservedGeneration says which generation the conditions are about.
	SetObservedGeneration(generation int64)
}
