// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package failures

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"weir.dev/pkg/apis"
	duckv1 "weir.dev/pkg/apis/duck/v1"
	"weir.dev/pkg/reconciler/generic"
	"weir.dev/test/harness"
)

// Thing is a kind of the tests' own: the reconcilers copy Spec.Value to
// Status.Value.
type Thing struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ThingSpec   `json:"spec"`
	Status ThingStatus `json:"status,omitempty"`
}

// ThingSpec is what is wanted.
type ThingSpec struct {
	Value string `json:"value,omitempty"`
}

// ThingStatus is what is there.
type ThingStatus struct {
	duckv1.Status `json:",inline"`
	Value         string `json:"value,omitempty"`
}

// things is how the kit knows the kind: nothing was generated for it.
var things = generic.Kind[*Thing]{Group: "failures.weir.dev", Version: "v1", Kind: "Thing"}

var _ duckv1.KRShaped = (*Thing)(nil)

// GetStatus implements duckv1.KRShaped.
func (t *Thing) GetStatus() *duckv1.Status { return &t.Status.Status }

// GetConditionSet implements duckv1.KRShaped.
func (*Thing) GetConditionSet() apis.ConditionSet { return apis.NewLivingConditionSet() }

// DeepCopy returns a copy that shares nothing.
func (t *Thing) DeepCopy() *Thing {
	out := *t
	t.DeepCopyInto(&out.ObjectMeta)
	t.Status.DeepCopyInto(&out.Status.Status)
	return &out
}

// DeepCopyObject implements runtime.Object.
func (t *Thing) DeepCopyObject() runtime.Object { return t.DeepCopy() }

// done tells whether the status is that of the spec as it is.
func (t *Thing) done() bool {
	return t.Status.Value == t.Spec.Value && t.Status.ObservedGeneration == t.Generation &&
		t.Status.GetCondition(apis.ConditionReady).IsTrue()
}

// installThings makes the kind known to an API server.
func installThings(ctx context.Context, cfg *rest.Config) error {
	open := true
	crd := &apiextensionsv1.CustomResourceDefinition{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: "things.failures.weir.dev"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: things.Group,
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "things", Singular: "thing", Kind: "Thing", ListKind: "ThingList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: things.Version, Served: true, Storage: true,
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
				Schema: &apiextensionsv1.CustomResourceValidation{
					OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &open},
				},
			}},
		},
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(crd)
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return err
	}
	crds := client.Resource(apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions"))
	if _, err := crds.Create(ctx, &unstructured.Unstructured{Object: object}, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return harness.Eventually(ctx, "things are served", func(ctx context.Context) (bool, error) {
		_, err := client.Resource(things.Resource()).List(ctx, metav1.ListOptions{})
		return err == nil, err
	})
}

// thingClient is how a test, as a user, handles the things of its namespace.
type thingClient struct{ dynamic.ResourceInterface }

func newThingClient(t *testing.T, cfg *rest.Config, namespace string) thingClient {
	t.Helper()
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return thingClient{client.Resource(things.Resource()).Namespace(namespace)}
}

func (c thingClient) create(ctx context.Context, name, value string) error {
	_, err := c.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": things.Group + "/" + things.Version, "kind": things.Kind,
		"metadata": map[string]any{"name": name},
		"spec":     map[string]any{"value": value},
	}}, metav1.CreateOptions{})
	return err
}

// set changes the spec, whatever else has changed meanwhile.
func (c thingClient) set(ctx context.Context, name, value string) error {
	return c.merge(ctx, name, map[string]any{"spec": map[string]any{"value": value}})
}

// annotate changes what no reconciler looks at.
func (c thingClient) annotate(ctx context.Context, name, value string) error {
	return c.merge(ctx, name, map[string]any{"metadata": map[string]any{"annotations": map[string]any{"noise": value}}})
}

func (c thingClient) merge(ctx context.Context, name string, fields map[string]any) error {
	patch, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	_, err = c.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// all reads the things past any cache.
func (c thingClient) all(ctx context.Context) ([]*Thing, error) {
	list, err := c.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	out := make([]*Thing, len(list.Items))
	for i := range list.Items {
		out[i] = &Thing{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(list.Items[i].Object, out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// allDone waits until there are that many things and each is reconciled.
func (c thingClient) allDone(ctx context.Context, t *testing.T, count int) {
	t.Helper()
	await(ctx, t, fmt.Sprintf("all of %d things are reconciled", count), func(ctx context.Context) (bool, error) {
		all, err := c.all(ctx)
		if err != nil {
			return false, err
		}
		for _, thing := range all {
			if !thing.done() {
				return false, fmt.Errorf("%s wants %q: %+v", thing.Name, thing.Spec.Value, thing.Status)
			}
		}
		return len(all) == count, fmt.Errorf("there are %d", len(all))
	})
}
