// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package hooktest

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"weir.dev/pkg/apis"
)

// GadgetKind is the kind of Gadget.
var GadgetKind = schema.GroupVersionKind{Group: "test.weir.dev", Version: "v1", Kind: "Gadget"}

// Gadget is a kind with a size, small unless said otherwise, and not "huge". A
// "big" one is worth two warnings.
type Gadget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the gadget's size.
	Spec GadgetSpec `json:"spec"`
}

// GadgetSpec is the spec of a Gadget.
type GadgetSpec struct {
	// Size of the gadget.
	Size string `json:"size,omitempty"`
}

// SetDefaults implements apis.Defaultable.
func (g *Gadget) SetDefaults(ctx context.Context) {
	if g.Spec.Size == "" {
		g.Spec.Size = DefaultSize(ctx)
	}
}

// Validate implements apis.Validatable.
func (g *Gadget) Validate(context.Context) *apis.FieldError {
	switch g.Spec.Size {
	case "huge":
		return apis.ErrInvalidValue("huge", "spec.size")
	case "big":
		return apis.ErrGeneric("rather big", "spec.size").Also(apis.ErrGeneric("think of something smaller", "spec.size")).At(apis.WarningLevel)
	}
	return nil
}

// GetUntypedSpec implements apis.HasSpec.
func (g *Gadget) GetUntypedSpec() any { return g.Spec }

// DeepCopyObject implements runtime.Object.
func (g *Gadget) DeepCopyObject() runtime.Object {
	out := *g
	g.DeepCopyInto(&out.ObjectMeta)
	return &out
}

type sizeKey struct{}

// WithDefaultSize returns a context whose gadgets are of another size.
func WithDefaultSize(ctx context.Context, size string) context.Context {
	return context.WithValue(ctx, sizeKey{}, size)
}

// DefaultSize is the size of gadgets that name none.
func DefaultSize(ctx context.Context) string {
	if size, ok := ctx.Value(sizeKey{}).(string); ok {
		return size
	}
	return "small"
}
