// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package defaulting

import (
	"context"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"weir.dev/pkg/controller"
	"weir.dev/pkg/webhook/registration"
	"weir.dev/pkg/webhook/resourcesemantics"
)

// Callback changes objects of a kind after their own defaults.
type Callback = resourcesemantics.Callback

// NewCallback returns a callback for creations, updates, or both. It panics on
// other operations: there is nothing to fill in.
func NewCallback(function func(context.Context, *unstructured.Unstructured) error, verbs ...admissionv1.Operation) Callback {
	if slices.Contains(verbs, admissionv1.Delete) || slices.Contains(verbs, admissionv1.Connect) {
		panic("defaulting: a callback is for creations and updates only")
	}
	return resourcesemantics.NewCallback(function, verbs...)
}

// reconciler defaults resources and keeps that registered.
type reconciler struct {
	*Controller
	*registration.Mutating
}

// NewAdmissionController returns a controller that defaults the kinds of
// handlers at path, and keeps the MutatingWebhookConfiguration of that name,
// which is installed already, saying so. wc adds to the context of each request
// and may be nil.
func NewAdmissionController(
	ctx context.Context, name, path string,
	handlers map[schema.GroupVersionKind]resourcesemantics.GenericCRD,
	wc func(context.Context) context.Context,
	disallowUnknownFields bool,
	callbacks ...map[schema.GroupVersionKind]Callback,
) *controller.Impl {
	kinds := resourcesemantics.Kinds(handlers)
	upkeep := registration.NewMutating(ctx, name, path, func(hook registration.Hook) {
		*hook.Rules = kinds.Rules(admissionregistrationv1.Create, admissionregistrationv1.Update)
	})
	impl := registration.NewImpl(ctx, &reconciler{
		Controller: New(Config{
			Path: path, Kinds: kinds, Context: wc, DisallowUnknownFields: disallowUnknownFields, Callbacks: callbacks,
		}),
		Mutating: upkeep,
	}, "DefaultingWebhook")
	upkeep.Watch(impl)
	return impl
}
