// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package apis

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Defaultable is a type that can fill in its unset fields.
type Defaultable interface {
	// SetDefaults sets defaults in place. The context carries the operation
	// (IsInCreate, IsInUpdate, ...) and the configuration.
	SetDefaults(context.Context)
}

// Validatable is a type that can check itself.
type Validatable interface {
	// Validate returns nil when the object is acceptable. Warnings are field
	// errors of WarningLevel.
	Validate(context.Context) *FieldError
}

// Convertible is a type that can be converted to and from another version.
type Convertible interface {
	// ConvertTo fills to from the receiver.
	ConvertTo(ctx context.Context, to Convertible) error
	// ConvertFrom fills the receiver from from.
	ConvertFrom(ctx context.Context, from Convertible) error
}

// Listable is a type that knows its list type.
type Listable interface {
	runtime.Object

	// GetListType returns an empty list of this type.
	GetListType() runtime.Object
}

// HasSpec is a type with a spec; types that have it get the creator and last
// modifier annotations from the defaulting webhook.
type HasSpec interface {
	// GetUntypedSpec returns the spec.
	GetUntypedSpec() interface{}
}

// KindToResource guesses the plural resource of a kind by English rules.
func KindToResource(gvk schema.GroupVersionKind) schema.GroupVersionResource {
	return gvk.GroupVersion().WithResource(pluralOf(gvk.Kind))
}
