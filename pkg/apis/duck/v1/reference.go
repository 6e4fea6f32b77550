// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"

	"weir.dev/pkg/apis"
)

// KReference refers to another resource.
type KReference struct {
	// Kind of the referent.
	Kind string `json:"kind"`

	// Namespace of the referent; the namespace of the referring resource by
	// default.
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// Name of the referent.
	Name string `json:"name"`

	// APIVersion of the referent.
	// +optional
	APIVersion string `json:"apiVersion,omitempty"`

	// Group of the API, without a version.
	// +optional
	Group string `json:"group,omitempty"`

	// Address names one of the referent's addresses.
	// +optional
	Address *string `json:"address,omitempty"`
}

// SetDefaults sets the namespace to that of the enclosing resource.
func (r *KReference) SetDefaults(ctx context.Context) {
	if r.Namespace == "" {
		r.Namespace = apis.ParentMeta(ctx).Namespace
	}
}

// Validate checks that the reference names a resource, in the namespace of the
// enclosing one unless the context allows others.
func (r *KReference) Validate(ctx context.Context) *apis.FieldError {
	if r == nil {
		return apis.ErrMissingField("name", "apiVersion", "kind")
	}
	var errs *apis.FieldError
	if r.Name == "" {
		errs = errs.Also(apis.ErrMissingField("name"))
	}
	if r.Kind == "" {
		errs = errs.Also(apis.ErrMissingField("kind"))
	}
	if r.APIVersion == "" && r.Group == "" {
		errs = errs.Also(apis.ErrMissingField("apiVersion"))
	}
	return errs.Also(r.validateNamespace(ctx))
}

func (r *KReference) validateNamespace(ctx context.Context) *apis.FieldError {
	parent := apis.ParentMeta(ctx).Namespace
	if parent == "" || r.Namespace == "" || r.Namespace == parent || apis.IsDifferentNamespaceAllowed(ctx) {
		return nil
	}
	return &apis.FieldError{
		Message: "mismatched namespaces",
		Paths:   []string{"namespace"},
		Details: "parent namespace: \"" + parent + "\" does not match ref: \"" + r.Namespace + "\"",
	}
}

// Destination is where to send: a resource, a URI, or a URI relative to a
// resource's address.
type Destination struct {
	// Ref points to an addressable resource.
	// +optional
	Ref *KReference `json:"ref,omitempty"`

	// URI is absolute without Ref, else relative to its address.
	// +optional
	URI *apis.URL `json:"uri,omitempty"`

	// CACerts are the certification authorities, PEM, to verify the destination
	// with.
	// +optional
	CACerts *string `json:"CACerts,omitempty"`

	// Audience is the OIDC audience of the destination.
	// +optional
	Audience *string `json:"audience,omitempty"`
}

// GetRef returns the reference, or nil.
func (d *Destination) GetRef() *KReference {
	if d == nil {
		return nil
	}
	return d.Ref
}

// SetDefaults sets the reference's defaults.
func (d *Destination) SetDefaults(ctx context.Context) {
	if d.Ref != nil {
		d.Ref.SetDefaults(ctx)
	}
}

// Validate checks that there is a destination.
func (d *Destination) Validate(ctx context.Context) *apis.FieldError {
	switch {
	case d == nil, d.Ref == nil && d.URI == nil:
		return apis.ErrGeneric("expected at least one, got none", "ref", "uri")
	case d.Ref == nil && !d.URI.URL().IsAbs():
		return apis.ErrInvalidValue("Relative URI is not allowed when Ref and [apiVersion, kind, name] is absent", "uri")
	case d.Ref == nil:
		return nil
	case d.URI.URL() != nil && d.URI.URL().IsAbs():
		return apis.ErrGeneric("Absolute URI is not allowed when Ref or [apiVersion, kind, name] is present", "[apiVersion, kind, name]", "ref", "uri")
	}
	return d.Ref.Validate(ctx).ViaField("ref")
}
