// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package psbinding

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"weir.dev/pkg/apis/duck"
	duckv1 "weir.dev/pkg/apis/duck/v1"
	"weir.dev/pkg/tracker"
	"weir.dev/pkg/webhook"
)

// Bindable is a binding.
type Bindable interface {
	duck.OneOfOurs

	// GetSubject names the subjects. Without a namespace they are in the binding's.
	GetSubject() tracker.Reference
	// GetBindingStatus returns the status, not a copy.
	GetBindingStatus() duck.BindableStatus
	// Do binds a subject. It changes nothing of one that is bound.
	Do(ctx context.Context, subject *duckv1.WithPod)
	// Undo takes back what Do did.
	Undo(ctx context.Context, subject *duckv1.WithPod)
}

// Mutation is Do or Undo.
type Mutation func(context.Context, *duckv1.WithPod)

// ListAll returns all bindings, those that are being deleted among them.
type ListAll func() ([]Bindable, error)

// GetListAll makes a ListAll and has the handler hear of all bindings from then
// on.
type GetListAll func(context.Context, cache.ResourceEventHandler) ListAll

// BindableContext adds to the context what Do of a binding needs.
type BindableContext func(context.Context, Bindable) (context.Context, error)

// ReconcilerOption changes what NewAdmissionController makes.
type ReconcilerOption func(*options)

type options struct{ selector metav1.LabelSelector }

// WithSelector chooses the namespaces and the subjects that are bound when they
// are written: those that its expressions select both of.
func WithSelector(s metav1.LabelSelector) ReconcilerOption {
	return func(o *options) { o.selector = s }
}

// Selectors for WithSelector.
var (
	// ExclusionSelector is all that do not forbid bindings. It is the default.
	ExclusionSelector = metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
		Key: duck.BindingExcludeLabel, Operator: metav1.LabelSelectorOpNotIn, Values: []string{"true"},
	}}}
	// InclusionSelector is all that ask for bindings.
	InclusionSelector = metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
		Key: duck.BindingIncludeLabel, Operator: metav1.LabelSelectorOpIn, Values: []string{"true"},
	}}}
)

// choose returns current with the expressions of the selector, and without those
// about bindings that another selector had.
func (o options) choose(current *metav1.LabelSelector) *metav1.LabelSelector {
	out := current.DeepCopy()
	if out != nil {
		out.MatchExpressions = slices.DeleteFunc(out.MatchExpressions, func(e metav1.LabelSelectorRequirement) bool {
			return e.Key == duck.BindingIncludeLabel || e.Key == duck.BindingExcludeLabel
		})
	}
	return webhook.EnsureLabelSelectorExpressions(out, &o.selector)
}

// subjectOf is the binding's subject with its namespace.
func subjectOf(b Bindable) tracker.Reference {
	subject := b.GetSubject()
	if subject.Namespace == "" {
		subject.Namespace = b.GetNamespace()
	}
	return subject
}
