// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"weir.dev/pkg/apis"
)

// gadgetsGroup is the API group of a kind of the tests' own.
const gadgetsGroup = "integration.weir.dev"

// gadget is its version v1, which is the hub and stored.
type gadget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec gadgetSpec `json:"spec"`
}

type gadgetSpec struct {
	Size string `json:"size,omitempty"`
}

// oldGadget is v1beta1, where the size was called bigness.
type oldGadget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec oldGadgetSpec `json:"spec"`
}

type oldGadgetSpec struct {
	Bigness string `json:"bigness,omitempty"`
}

// SetDefaults implements apis.Defaultable.
func (g *gadget) SetDefaults(context.Context) {
	if g.Spec.Size == "" {
		g.Spec.Size = "small"
	}
}

// Validate implements apis.Validatable.
func (g *gadget) Validate(context.Context) *apis.FieldError {
	if g.Spec.Size == "huge" {
		return apis.ErrInvalidValue("huge", "spec.size")
	}
	return nil
}

// ConvertTo and ConvertFrom implement apis.Convertible; nothing is converted
// from the hub to anything but by the other version.
func (g *gadget) ConvertTo(context.Context, apis.Convertible) error   { return nil }
func (g *gadget) ConvertFrom(context.Context, apis.Convertible) error { return nil }

// DeepCopyObject implements runtime.Object.
func (g *gadget) DeepCopyObject() runtime.Object {
	out := *g
	g.DeepCopyInto(&out.ObjectMeta)
	return &out
}

// ConvertTo implements apis.Convertible.
func (g *oldGadget) ConvertTo(_ context.Context, to apis.Convertible) error {
	hub, ok := to.(*gadget)
	if !ok {
		return fmt.Errorf("unknown version %T", to)
	}
	hub.ObjectMeta, hub.Spec.Size = g.ObjectMeta, g.Spec.Bigness
	return nil
}

// ConvertFrom implements apis.Convertible.
func (g *oldGadget) ConvertFrom(_ context.Context, from apis.Convertible) error {
	hub, ok := from.(*gadget)
	if !ok {
		return fmt.Errorf("unknown version %T", from)
	}
	g.ObjectMeta, g.Spec.Bigness = hub.ObjectMeta, hub.Spec.Size
	return nil
}

// DeepCopyObject implements runtime.Object.
func (g *oldGadget) DeepCopyObject() runtime.Object {
	out := *g
	g.DeepCopyInto(&out.ObjectMeta)
	return &out
}

func gadgets(version string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: gadgetsGroup, Version: version, Resource: "gadgets"}
}

// gadgetManifests are what is installed before the webhook runs. The Service
// is another name of this machine: the webhook is no pod. HOST and PORT are its address.
const gadgetManifests = `
apiVersion: v1
kind: Namespace
metadata: {name: gadgets}
---
apiVersion: v1
kind: Secret
metadata: {name: certs, namespace: gadgets}
---
apiVersion: v1
kind: Service
metadata: {name: hook, namespace: gadgets}
spec: {type: ExternalName, externalName: localhost}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.integration.weir.dev}
spec:
  group: integration.weir.dev
  scope: Namespaced
  names: {kind: Gadget, listKind: GadgetList, plural: gadgets, singular: gadget}
  versions:
    - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
    - {name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig: {service: {name: hook, namespace: gadgets, port: PORT}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: defaulting.gadgets.weir.dev}
webhooks:
  - name: defaulting.gadgets.weir.dev
    admissionReviewVersions: [v1]
    sideEffects: None
    clientConfig: {service: {name: hook, namespace: gadgets, port: PORT}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: validation.gadgets.weir.dev}
webhooks:
  - name: validation.gadgets.weir.dev
    admissionReviewVersions: [v1]
    sideEffects: None
    clientConfig: {service: {name: hook, namespace: gadgets, port: PORT}}
`
