// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"context"
	"encoding/json"
	"fmt"

	apixv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"weir.dev/pkg/apis"
	"weir.dev/pkg/webhook"
)

// ConvertibleObject is a version of a kind. Of one that is not the hub,
// ConvertTo fills the hub's and ConvertFrom reads it.
type ConvertibleObject interface {
	apis.Convertible
	runtime.Object
}

// GroupKindConversion says how the versions of a kind are converted.
type GroupKindConversion struct {
	// DefinitionName is the name of the kind's CRD.
	DefinitionName string
	// HubVersion is the version by way of which all others are converted.
	HubVersion string
	// Zygotes are empty objects by version, the hub's among them.
	Zygotes map[string]ConvertibleObject
}

// Converter converts resources.
type Converter struct {
	path  string
	kinds map[schema.GroupKind]GroupKindConversion
	wrap  func(context.Context) context.Context
}

var _ webhook.ConversionController = (*Converter)(nil)

// New returns a converter of kinds, served at path. wrap adds to the context of
// each request; nil adds nothing.
func New(path string, kinds map[schema.GroupKind]GroupKindConversion, wrap func(context.Context) context.Context) *Converter {
	if wrap == nil {
		wrap = func(ctx context.Context) context.Context { return ctx }
	}
	return &Converter{path: path, kinds: kinds, wrap: wrap}
}

// Path is where the converter is served.
func (c *Converter) Path() string { return c.path }

// Convert converts all objects of a request, or none.
func (c *Converter) Convert(ctx context.Context, req *apixv1.ConversionRequest) *apixv1.ConversionResponse {
	ctx = c.wrap(ctx)
	response := &apixv1.ConversionResponse{UID: req.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
	for i, object := range req.Objects {
		converted, err := c.convert(ctx, object.Raw, req.DesiredAPIVersion)
		if err != nil {
			return &apixv1.ConversionResponse{UID: req.UID, Result: metav1.Status{
				Status: metav1.StatusFailure, Message: fmt.Sprintf("conversion failed: object %d: %v", i, err),
			}}
		}
		response.ConvertedObjects = append(response.ConvertedObjects, runtime.RawExtension{Raw: converted})
	}
	return response
}

// convert converts one object, JSON.
func (c *Converter) convert(ctx context.Context, raw []byte, desired string) ([]byte, error) {
	var have metav1.TypeMeta
	if err := json.Unmarshal(raw, &have); err != nil {
		return nil, fmt.Errorf("read its kind: %w", err)
	}
	from := have.GroupVersionKind()
	to, err := schema.ParseGroupVersion(desired)
	if err != nil {
		return nil, fmt.Errorf("desired version: %w", err)
	}
	kind, ok := c.kinds[from.GroupKind()]
	if !ok || to.Group != from.Group {
		return nil, fmt.Errorf("there is no conversion of %s to %s", from, to)
	}
	if from.Version == to.Version {
		return raw, nil
	}
	in, err := kind.decode(from.Version, raw)
	if err != nil {
		return nil, err
	}
	out, err := kind.through(ctx, in, from.Version, to.Version)
	if err != nil {
		return nil, fmt.Errorf("%s to %s: %w", from, to, err)
	}
	out.GetObjectKind().SetGroupVersionKind(to.WithKind(from.Kind))
	return json.Marshal(out)
}

// through converts an object by way of the hub.
func (k GroupKindConversion) through(ctx context.Context, in ConvertibleObject, from, to string) (ConvertibleObject, error) {
	hub := in
	var err error
	if from != k.HubVersion {
		if hub, err = k.empty(k.HubVersion); err != nil {
			return nil, err
		}
		if err = in.ConvertTo(ctx, hub); err != nil {
			return nil, fmt.Errorf("to the hub, %s: %w", k.HubVersion, err)
		}
	}
	if to == k.HubVersion {
		return hub, nil
	}
	out, err := k.empty(to)
	if err != nil {
		return nil, err
	}
	if err := out.ConvertFrom(ctx, hub); err != nil {
		return nil, fmt.Errorf("from the hub, %s: %w", k.HubVersion, err)
	}
	return out, nil
}

func (k GroupKindConversion) decode(version string, raw []byte) (ConvertibleObject, error) {
	obj, err := k.empty(version)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(raw, obj); err != nil {
		return nil, fmt.Errorf("read an object of version %s: %w", version, err)
	}
	return obj, nil
}

func (k GroupKindConversion) empty(version string) (ConvertibleObject, error) {
	zygote, ok := k.Zygotes[version]
	if !ok {
		return nil, fmt.Errorf("%s has no version %q", k.DefinitionName, version)
	}
	obj, ok := zygote.DeepCopyObject().(ConvertibleObject)
	if !ok {
		return nil, fmt.Errorf("the copy of a %T is none", zygote)
	}
	return obj, nil
}
