// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"context"
	"errors"
	"slices"

	apixv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"weir.dev/pkg/client/injection/apiextensions/client"
	crdinformer "weir.dev/pkg/client/injection/apiextensions/informers/apiextensions/v1/customresourcedefinition"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/webhook/registration"
)

// upkeep is that of the CRDs.
type upkeep = registration.Upkeep[*apixv1.CustomResourceDefinition]

// reconciler converts resources and keeps that registered.
type reconciler struct {
	*Converter
	*upkeep
}

// NewConversionController returns a controller that converts kinds at path, and
// keeps their CRDs, which are installed already with a conversion by webhook,
// saying so. wc adds to the context of each request and may be nil.
func NewConversionController(
	ctx context.Context, path string,
	kinds map[schema.GroupKind]GroupKindConversion,
	wc func(context.Context) context.Context,
) *controller.Impl {
	var names []string
	for _, kind := range kinds {
		names = append(names, kind.DefinitionName)
	}
	slices.Sort(names)
	informer := crdinformer.Get(ctx)
	crds := registration.New(ctx, registration.Config[*apixv1.CustomResourceDefinition]{
		Names:    slices.Compact(names),
		Informer: informer.Informer(),
		Get:      informer.Lister().Get,
		Update:   client.Get(ctx).ApiextensionsV1().CustomResourceDefinitions().Update,
		Complete: func(_ context.Context, crd *apixv1.CustomResourceDefinition, caBundle []byte) error {
			return complete(crd, path, caBundle)
		},
	})
	impl := registration.NewImpl(ctx, &reconciler{Converter: New(path, kinds, wc), upkeep: crds}, "ConversionWebhook")
	crds.Watch(impl)
	return impl
}

// complete writes the path and the authorities into a CRD. That and by which
// Service a webhook converts it is the CRD's business.
func complete(crd *apixv1.CustomResourceDefinition, path string, caBundle []byte) error {
	c := crd.Spec.Conversion
	if c == nil || c.Strategy != apixv1.WebhookConverter || c.Webhook == nil || c.Webhook.ClientConfig == nil {
		return controller.NewPermanentError(errors.New("the CRD names no webhook for conversions"))
	}
	config := c.Webhook.ClientConfig
	config.CABundle = caBundle
	switch {
	case config.Service != nil:
		config.Service.Path = &path
	case config.URL == nil:
		return controller.NewPermanentError(errors.New("the CRD names no service for conversions"))
	}
	return nil
}
