// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package resourcesemantics says what a kind must be able to do for webhooks to
// default and validate it, and reads such kinds out of admission requests.
package resourcesemantics

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"weir.dev/pkg/apis"
)

// GenericCRD is a kind that defaults and validates itself.
type GenericCRD interface {
	apis.Defaultable
	apis.Validatable
	runtime.Object
}

// VerbLimited is a kind that is looked at for some operations only.
type VerbLimited interface {
	// SupportedVerbs are the operations.
	SupportedVerbs() []admissionv1.Operation
}

// SubResourceLimited is a kind that is looked at for some subresources only.
type SubResourceLimited interface {
	// SupportedSubResources are the subresources, "" for the object itself.
	SupportedSubResources() []string
}

// Kinds are the kinds that a controller looks at.
type Kinds map[schema.GroupVersionKind]GenericCRD

// Of returns the kind that a request is about.
func (k Kinds) Of(req *admissionv1.AdmissionRequest) (schema.GroupVersionKind, GenericCRD, bool) {
	gvk := schema.GroupVersionKind{Group: req.Kind.Group, Version: req.Kind.Version, Kind: req.Kind.Kind}
	kind, ok := k[gvk]
	return gvk, kind, ok
}

// Concerns says whether a kind is looked at for this request.
func Concerns(kind GenericCRD, req *admissionv1.AdmissionRequest) bool {
	if limited, ok := kind.(VerbLimited); ok && !slices.Contains(limited.SupportedVerbs(), req.Operation) {
		return false
	}
	limited, ok := kind.(SubResourceLimited)
	return !ok || slices.Contains(limited.SupportedSubResources(), req.SubResource)
}

// Decode returns an object of the kind from JSON, nil for no JSON.
func Decode(kind GenericCRD, raw []byte, disallowUnknown bool) (GenericCRD, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	obj, ok := kind.DeepCopyObject().(GenericCRD)
	if !ok {
		return nil, fmt.Errorf("the copy of a %T is none", kind)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if disallowUnknown {
		decoder.DisallowUnknownFields()
	}
	if err := decoder.Decode(obj); err != nil {
		return nil, err
	}
	return obj, nil
}

// Context returns the context that defaulting and validation of a request run
// in; old is the stored object of an update.
func Context(ctx context.Context, req *admissionv1.AdmissionRequest, old GenericCRD) context.Context {
	ctx = apis.WithUserInfo(ctx, &req.UserInfo)
	if req.DryRun != nil && *req.DryRun {
		ctx = apis.WithDryRun(ctx)
	}
	switch {
	case req.Operation == admissionv1.Create:
		return apis.WithinCreate(ctx)
	case req.Operation == admissionv1.Delete:
		return apis.WithinDelete(ctx)
	case req.Operation == admissionv1.Update && req.SubResource != "":
		return apis.WithinSubResourceUpdate(ctx, old, req.SubResource)
	case req.Operation == admissionv1.Update:
		return apis.WithinUpdate(ctx, old)
	default:
		return ctx
	}
}
