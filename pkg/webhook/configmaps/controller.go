// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package configmaps

import (
	"context"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/webhook/registration"
)

// reconciler validates ConfigMaps and keeps that registered.
type reconciler struct {
	*Controller
	*registration.Validating
}

// NewAdmissionController returns a controller that validates the ConfigMaps
// that have a constructor, at path, and keeps the ValidatingWebhookConfiguration
// of that name, which is installed already, saying so. It panics on a
// constructor of another form: it is a mistake in the program.
func NewAdmissionController(ctx context.Context, name, path string, constructors configmap.Constructors) *controller.Impl {
	c, err := New(path, constructors)
	if err != nil {
		panic(err)
	}
	upkeep := registration.NewValidating(ctx, name, path, func(hook registration.Hook) { *hook.Rules = Rules() })
	impl := registration.NewImpl(ctx, &reconciler{Controller: c, Validating: upkeep}, "ConfigMapWebhook")
	upkeep.Watch(impl)
	return impl
}

// Rules are what a webhook for ConfigMaps asks the API server for.
func Rules() []admissionregistrationv1.RuleWithOperations {
	namespaced := admissionregistrationv1.NamespacedScope
	return []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
		Rule: admissionregistrationv1.Rule{
			APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}, Scope: &namespaced,
		},
	}}
}
