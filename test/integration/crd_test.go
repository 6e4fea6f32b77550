// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// TestFirstObjectsNeedNotWait is about a habit of the API server: it holds each creation of an object whose CRD was
// established less than two seconds ago by two seconds, for the sake of other API servers. The embedded one is alone.
func TestFirstObjectsNeedNotWait(t *testing.T) {
	list, err := client.Resource(apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for i := range list.Items {
		var crd apiextensionsv1.CustomResourceDefinition
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(list.Items[i].Object, &crd); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(crd.Spec.Group, ".knative.dev") {
			continue
		}
		for _, c := range crd.Status.Conditions {
			if c.Type != apiextensionsv1.Established {
				continue
			}
			seen++
			if early := crd.CreationTimestamp.Sub(c.LastTransitionTime.Time); early < 2*time.Second {
				t.Errorf("CRD %s, created %s, counts as established since %s: its first objects are held",
					crd.Name, crd.CreationTimestamp.UTC(), c.LastTransitionTime.UTC())
			}
		}
	}
	if seen == 0 {
		t.Error("there are no CRDs of ours")
	}
}
