// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"context"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"weir.dev/pkg/controller"
	"weir.dev/pkg/webhook/registration"
	"weir.dev/pkg/webhook/resourcesemantics"
)

// Callback looks at objects of a kind that are valid, and at deletions.
type Callback = resourcesemantics.Callback

// NewCallback returns a callback for some operations. What it returns refuses
// the request.
func NewCallback(function func(context.Context, *unstructured.Unstructured) error, verbs ...admissionv1.Operation) Callback {
	return resourcesemantics.NewCallback(function, verbs...)
}

// reconciler validates resources and keeps that registered.
type reconciler struct {
	*Controller
	*registration.Validating
}

// NewAdmissionController returns a controller that validates the kinds of
// handlers at path, and keeps the ValidatingWebhookConfiguration of that name,
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
	upkeep := registration.NewValidating(ctx, name, path, func(hook registration.Hook) {
		*hook.Rules = kinds.Rules(admissionregistrationv1.Create, admissionregistrationv1.Update, admissionregistrationv1.Delete)
	})
	impl := registration.NewImpl(ctx, &reconciler{
		Controller: New(Config{
			Path: path, Kinds: kinds, Context: wc, DisallowUnknownFields: disallowUnknownFields, Callbacks: callbacks,
		}),
		Validating: upkeep,
	}, "ValidationWebhook")
	upkeep.Watch(impl)
	return impl
}
