// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"context"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"weir.dev/pkg/configmap"
	controllerkit "weir.dev/pkg/controller"
	"weir.dev/pkg/injection"
	"weir.dev/pkg/webhook"
	"weir.dev/pkg/webhook/certificates"
	"weir.dev/pkg/webhook/configmaps"
	"weir.dev/pkg/webhook/internal/hooktest"
	"weir.dev/pkg/webhook/psbinding"
	"weir.dev/pkg/webhook/resourcesemantics"
	"weir.dev/pkg/webhook/resourcesemantics/conversion"
	"weir.dev/pkg/webhook/resourcesemantics/defaulting"
	"weir.dev/pkg/webhook/resourcesemantics/validation"
)

type (
	wrapping = func(context.Context) context.Context
	kinds    = map[schema.GroupVersionKind]resourcesemantics.GenericCRD
	callback = func(context.Context, *unstructured.Unstructured) error
	impl     = *controllerkit.Impl
)

// What programs that were written for the same API elsewhere call, as they call it.
var (
	_ func(context.Context, webhook.Options) context.Context   = webhook.WithOptions
	_ func(context.Context) *webhook.Options                   = webhook.GetOptions
	_ func(context.Context, []any) (*webhook.Webhook, error)   = webhook.New
	_ func(*webhook.Webhook, <-chan struct{}) error            = (*webhook.Webhook).Run
	_ func(*webhook.Webhook)                                   = (*webhook.Webhook).InformersHaveSynced
	_ func(string, ...any) *admissionv1.AdmissionResponse      = webhook.MakeErrorStatus
	_ func() string                                            = webhook.NameFromEnv
	_ func(int) int                                            = webhook.PortFromEnv
	_ func(string) string                                      = webhook.SecretNameFromEnv
	_ func(callback, ...webhook.Operation) defaulting.Callback = defaulting.NewCallback
	_ func(callback, ...webhook.Operation) validation.Callback = validation.NewCallback
	_ injection.ControllerConstructor                          = certificates.NewController

	_ func(context.Context, string, string, kinds, wrapping, bool, ...map[schema.GroupVersionKind]defaulting.Callback) impl = defaulting.NewAdmissionController
	_ func(context.Context, string, string, kinds, wrapping, bool, ...map[schema.GroupVersionKind]validation.Callback) impl = validation.NewAdmissionController

	_ func(context.Context, string, string, configmap.Constructors) impl = configmaps.NewAdmissionController

	_ func(context.Context, string, map[schema.GroupKind]conversion.GroupKindConversion, wrapping) impl = conversion.NewConversionController

	_ func(context.Context, string, string, psbinding.GetListAll, psbinding.BindableContext, ...psbinding.ReconcilerOption) impl = psbinding.NewAdmissionController
)

// TestControllersOfAProcess makes what a process of webhooks has, and serves it.
func TestControllersOfAProcess(t *testing.T) {
	cluster := hooktest.New(t, webhook.Options{Port: 8443})
	gadgets := kinds{hooktest.GadgetKind: &hooktest.Gadget{}}
	impls := []impl{
		certificates.NewController(cluster.Ctx, configmap.NewStaticWatcher()),
		defaulting.NewAdmissionController(cluster.Ctx, "defaulting", "/defaulting", gadgets, nil, false),
		validation.NewAdmissionController(cluster.Ctx, "validation", "/validation", gadgets, nil, false),
		configmaps.NewAdmissionController(cluster.Ctx, "config", "/config", nil),
	}
	var served []any
	for _, i := range impls {
		if _, ok := i.Reconciler.(interface{ Path() string }); ok {
			served = append(served, i.Reconciler)
		}
		t.Cleanup(i.WorkQueue().ShutDown)
	}
	if len(served) != len(impls)-1 {
		t.Errorf("the certificates alone answer no requests, got %d of %d", len(served), len(impls))
	}
	wh, err := webhook.New(cluster.Ctx, served)
	if err != nil {
		t.Fatal(err)
	}
	if wh.Options.Port != 8443 || wh.Options.SecretName != hooktest.SecretName {
		t.Errorf("the options are the context's: %+v", wh.Options)
	}
	names := map[string]bool{}
	for _, i := range impls {
		if i.Name == "" || names[i.Name] {
			t.Errorf("each controller has a lease of its own, by its name: %q", i.Name)
		}
		names[i.Name] = true
	}
}
