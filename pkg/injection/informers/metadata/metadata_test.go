// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package metadata

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection"
	fakemetadata "weir.dev/pkg/injection/clients/metadataclient/fake"
)

var deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}

func deployment(name string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: name, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}},
		},
	}
}

// TestGet: the set's informer keeps metadata, without what nobody reads of it.
func TestGet(t *testing.T) {
	ctx, _ := fakemetadata.With(t.Context(), deployment("web"))
	ctx, informers := injection.Fake.SetupInformers(ctx, &rest.Config{})
	informer := Get(ctx, deployments)
	if Get(ctx, deployments) != informer {
		t.Error("a set has one informer of a resource")
	}
	if GetFiltered(ctx, deployments, "a=b") == informer {
		t.Error("a selector has an informer of its own")
	}
	if err := controller.StartInformers(ctx.Done(), informers...); err != nil {
		t.Fatal(err)
	}
	got, err := informer.Lister().ByNamespace("ns").List(labels.Everything())
	if err != nil || len(got) != 1 {
		t.Fatalf("List: %v, %v", got, err)
	}
	want := deployment("web")
	want.ManagedFields = nil
	if d := cmp.Diff(want, got[0]); d != "" {
		t.Errorf("object (-want +got):\n%s", d)
	}
}
