// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package webhooks are the example's webhooks: what the API server asks before
// it stores an AddressableService or the example's ConfigMap.
package webhooks

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"weir.dev/examples/controller/pkg/apis/samples/v1alpha1"
	"weir.dev/examples/controller/pkg/config"
	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection"
	"weir.dev/pkg/webhook/certificates"
	"weir.dev/pkg/webhook/configmaps"
	"weir.dev/pkg/webhook/resourcesemantics"
	"weir.dev/pkg/webhook/resourcesemantics/defaulting"
	"weir.dev/pkg/webhook/resourcesemantics/validation"
)

// kinds are what is defaulted and validated.
var kinds = map[schema.GroupVersionKind]resourcesemantics.GenericCRD{
	v1alpha1.SchemeGroupVersion.WithKind("AddressableService"): &v1alpha1.AddressableService{},
}

// Constructors are the controllers of the webhook process.
func Constructors() []injection.ControllerConstructor {
	return []injection.ControllerConstructor{certificates.NewController, newDefaulting, newValidation, newConfigValidation}
}

func unchanged(ctx context.Context) context.Context { return ctx }

func newDefaulting(ctx context.Context, _ configmap.Watcher) *controller.Impl {
	return defaulting.NewAdmissionController(ctx, "defaulting.webhook.samples.weir.dev", "/defaulting", kinds, unchanged, true)
}

func newValidation(ctx context.Context, _ configmap.Watcher) *controller.Impl {
	return validation.NewAdmissionController(ctx, "validation.webhook.samples.weir.dev", "/resource-validation", kinds, unchanged, true)
}

func newConfigValidation(ctx context.Context, _ configmap.Watcher) *controller.Impl {
	return configmaps.NewAdmissionController(ctx, "config.webhook.samples.weir.dev", "/config-validation", config.Constructors())
}
