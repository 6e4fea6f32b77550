// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/rest"

	duckv1 "weir.dev/pkg/apis/duck/v1"
	"weir.dev/test/harness"
)

// The kind that is reconciled: nothing but metadata and the common status, so
// that what is measured is the machinery and not the type.
var thingGVK = schema.GroupVersionKind{Group: "bench.weir.dev", Version: "v1", Kind: "Thing"}

type (
	thing     = duckv1.KResource
	thingList = duckv1.KResourceList
)

// newScheme returns a scheme with the kind.
func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	s.AddKnownTypeWithName(thingGVK, &thing{})
	s.AddKnownTypeWithName(thingGVK.GroupVersion().WithKind("ThingList"), &thingList{})
	metav1.AddToGroupVersion(s, thingGVK.GroupVersion())
	return s
}

// thingClient is what client generators make.
type thingClient = *gentype.ClientWithList[*thing, *thingList]

// newThingClient returns a function that gives the client of a namespace.
func newThingClient(cfg *rest.Config) (func(namespace string) thingClient, error) {
	s, gv := newScheme(), thingGVK.GroupVersion()
	cfg = rest.CopyConfig(cfg)
	cfg.GroupVersion, cfg.APIPath = &gv, "/apis"
	cfg.NegotiatedSerializer = rest.CodecFactoryForGeneratedClient(s, serializer.NewCodecFactory(s)).WithoutConversion()
	client, err := rest.RESTClientFor(cfg)
	if err != nil {
		return nil, err
	}
	codec := runtime.NewParameterCodec(s)
	return func(namespace string) thingClient {
		return gentype.NewClientWithList("things", client, codec, namespace,
			func() *thing { return &thing{} }, func() *thingList { return &thingList{} })
	}, nil
}

// installThings makes the kind known to the API server.
func installThings(ctx context.Context, cfg *rest.Config) error {
	client, err := apiextensions.NewForConfig(cfg)
	if err != nil {
		return err
	}
	open := true
	_, err = client.ApiextensionsV1().CustomResourceDefinitions().Create(ctx, &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "things." + thingGVK.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: thingGVK.Group,
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "things", Singular: "thing", Kind: "Thing", ListKind: "ThingList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: thingGVK.Version, Served: true, Storage: true,
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
				Schema: &apiextensionsv1.CustomResourceValidation{
					OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &open},
				},
			}},
		},
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	things, err := newThingClient(cfg)
	if err != nil {
		return err
	}
	return harness.Eventually(ctx, "things are served", func(ctx context.Context) (bool, error) {
		_, err := things(namespace).List(ctx, metav1.ListOptions{})
		return err == nil, err
	})
}
