// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package crdgen makes the CustomResourceDefinitions from the Go types. Of the
// Kubernetes types inside ours it takes what an allow-list names, so that the
// schema is the interface that we promise and stays small: kubectl apply keeps
// a copy of the object in an annotation of limited size. It is used by the
// generator and its tests only.
package crdgen

import (
	"fmt"
	"reflect"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Kind describes one resource.
type Kind struct {
	// Group is the API group.
	Group string
	// Kind, Plural and Singular are its names.
	Kind, Plural, Singular string
	// ShortNames and Categories are for kubectl.
	ShortNames, Categories []string
	// Labels are put on the definition besides the common ones.
	Labels map[string]string
	// Versions are served, the first one is stored; all have the same schema.
	Versions []string
	// Columns are what kubectl get prints.
	Columns []apiextensionsv1.CustomResourceColumnDefinition
	// Type is the Go type, a struct with Spec and Status.
	Type reflect.Type
}

// Definition returns the definition of a kind.
func Definition(k Kind, docs Docs) (*apiextensionsv1.CustomResourceDefinition, error) {
	s := schemas{policy: newPolicy(), docs: docs}
	root, err := s.object(k)
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", k.Kind, err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{
		TypeMeta: metav1.TypeMeta{
			APIVersion: apiextensionsv1.SchemeGroupVersion.String(),
			Kind:       "CustomResourceDefinition",
		},
		ObjectMeta: metav1.ObjectMeta{
			Name: k.Plural + "." + k.Group,
			Labels: map[string]string{
				"app.kubernetes.io/name":    "knative-serving",
				"knative.dev/crd-install":   "true",
				"app.kubernetes.io/part-of": "weir",
			},
		},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: k.Group,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Kind: k.Kind, ListKind: k.Kind + "List", Plural: k.Plural, Singular: k.Singular,
				ShortNames: k.ShortNames, Categories: k.Categories,
			},
			Scope: apiextensionsv1.NamespaceScoped,
		},
	}
	for key, value := range k.Labels {
		crd.Labels[key] = value
	}
	for i, version := range k.Versions {
		crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
			Name: version, Served: true, Storage: i == 0,
			Schema:                   &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: root.DeepCopy()},
			Subresources:             &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
			AdditionalPrinterColumns: k.Columns,
		})
	}
	return crd, nil
}
