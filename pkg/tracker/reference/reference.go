// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package reference is how a resource names another, or a selection of others:
// a type that APIs embed, free of client-go. Everybody else knows it from
// package tracker.
package reference

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"weir.dev/pkg/apis"
)

var _ apis.Validatable = (*Reference)(nil)

// Reference names one object, or all objects of a kind and namespace that a
// selector matches.
// +k8s:deepcopy-gen=true
type Reference struct {
	// APIVersion of the object.
	// +optional
	APIVersion string `json:"apiVersion,omitempty"`

	// Kind of the object.
	// +optional
	Kind string `json:"kind,omitempty"`

	// Namespace of the object.
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// Name of the object; excludes Selector.
	// +optional
	Name string `json:"name,omitempty"`

	// Selector of the objects; excludes Name.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}

// GroupVersionKind is the kind that is referred to.
func (ref *Reference) GroupVersionKind() schema.GroupVersionKind {
	gv, _ := schema.ParseGroupVersion(ref.APIVersion)
	return gv.WithKind(ref.Kind)
}

// ObjectReference is the reference without its selector.
func (ref *Reference) ObjectReference() corev1.ObjectReference {
	return corev1.ObjectReference{
		APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name,
	}
}

// ValidateObjectReference tells what keeps the reference from naming exactly
// one object of a namespace.
func (ref *Reference) ValidateObjectReference(context.Context) *apis.FieldError {
	errs := ref.validateKind()
	if ref.Name == "" {
		return errs.Also(apis.ErrMissingField("name"))
	}
	return errs.Also(invalidName(ref.Name, "name", validation.IsDNS1123Subdomain))
}

// Validate tells what keeps the reference from naming one object or one
// selection of a namespace.
func (ref *Reference) Validate(context.Context) *apis.FieldError {
	errs := ref.validateKind()
	switch {
	case ref.Selector != nil && ref.Name != "":
		return errs.Also(apis.ErrMultipleOneOf("selector", "name"))
	case ref.Selector != nil:
		if _, err := metav1.LabelSelectorAsSelector(ref.Selector); err != nil {
			errs = errs.Also(apis.ErrInvalidValue(err.Error(), "selector"))
		}
		return errs
	case ref.Name == "":
		return errs.Also(apis.ErrMissingOneOf("selector", "name"))
	}
	return errs.Also(invalidName(ref.Name, "name", validation.IsDNS1123Subdomain))
}

func (ref *Reference) validateKind() *apis.FieldError {
	return validateAPIVersion(ref.APIVersion).
		Also(required(ref.Kind, "kind", validation.IsCIdentifier)).
		Also(required(ref.Namespace, "namespace", validation.IsDNS1123Label))
}

func validateAPIVersion(apiVersion string) *apis.FieldError {
	if apiVersion == "" {
		return apis.ErrMissingField("apiVersion")
	}
	if _, err := schema.ParseGroupVersion(apiVersion); err != nil {
		return apis.ErrInvalidValue(err.Error(), "apiVersion")
	}
	return nil
}

func required(value, field string, check func(string) []string) *apis.FieldError {
	if value == "" {
		return apis.ErrMissingField(field)
	}
	return invalidName(value, field, check)
}

func invalidName(value, field string, check func(string) []string) *apis.FieldError {
	if problems := check(value); len(problems) > 0 {
		return apis.ErrInvalidValue(fmt.Sprintf("%s: %s", value, strings.Join(problems, ", ")), field)
	}
	return nil
}
