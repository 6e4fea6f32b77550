// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apixv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgotesting "k8s.io/client-go/testing"

	crdfake "weir.dev/pkg/client/injection/apiextensions/client/fake"
	_ "weir.dev/pkg/client/injection/apiextensions/informers/apiextensions/v1/customresourcedefinition/fake" // what is asked for
	"weir.dev/pkg/controller"
	"weir.dev/pkg/ptr"
	"weir.dev/pkg/webhook"
	"weir.dev/pkg/webhook/internal/hooktest"
	"weir.dev/pkg/webhook/resourcesemantics/conversion"
)

// crd is a CRD as manifests have it.
func crd(changes ...func(*apixv1.WebhookClientConfig)) *apixv1.CustomResourceDefinition {
	config := &apixv1.WebhookClientConfig{Service: &apixv1.ServiceReference{Namespace: "elsewhere", Name: "gate"}}
	for _, change := range changes {
		change(config)
	}
	return &apixv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "rods.test.weir.dev"},
		Spec: apixv1.CustomResourceDefinitionSpec{Conversion: &apixv1.CustomResourceConversion{
			Strategy: apixv1.WebhookConverter, Webhook: &apixv1.WebhookConversion{ClientConfig: config},
		}},
	}
}

func atURL(c *apixv1.WebhookClientConfig) { c.Service, c.URL = nil, ptr.String("https://gate") }

func right(c *apixv1.WebhookClientConfig) {
	c.CABundle = []byte(hooktest.CABundle)
	if c.Service != nil {
		c.Service.Path = ptr.String("/convert")
	}
}

func TestUpkeep(t *testing.T) {
	none := crd()
	none.Spec.Conversion = &apixv1.CustomResourceConversion{Strategy: apixv1.NoneConverter}
	nowhere := crd(func(c *apixv1.WebhookClientConfig) { c.Service = nil })
	tests := map[string]struct {
		reason  string
		have    *apixv1.CustomResourceDefinition
		want    *apixv1.CustomResourceDefinition // nil: nothing is written
		wantErr bool
	}{
		"Installed": {"what only we know is filled in", crd(), crd(right), false},
		"Right":     {"nothing has changed", crd(right), nil, false},
		"URL":       {"whoever wrote it knows where we are", crd(atURL), crd(atURL, right), false},
		"None":      {"nobody asked for conversions", none, nil, true},
		"Nowhere":   {"there is nobody to ask", nowhere, nil, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := hooktest.New(t, webhook.Options{}, hooktest.Secret())
			client := crdfake.Get(cluster.Ctx)
			if err := client.Tracker().Add(tc.have.DeepCopy()); err != nil {
				t.Fatal(err)
			}
			impl := conversion.NewConversionController(cluster.Ctx, "/convert", rods, nil)
			if _, ok := impl.Reconciler.(webhook.ConversionController); !ok {
				t.Error("the reconciler must convert, too")
			}
			cluster.Start(impl)
			cluster.Lead(impl)
			if err := impl.Reconciler.Reconcile(cluster.Ctx, "rods.test.weir.dev"); (err != nil) != tc.wantErr || (err != nil && !controller.IsPermanentError(err)) {
				t.Errorf("%s: got %v", tc.reason, err)
			}
			var got *apixv1.CustomResourceDefinition
			for _, action := range client.Actions() {
				if update, ok := action.(clientgotesting.UpdateAction); ok {
					got = update.GetObject().(*apixv1.CustomResourceDefinition)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestPromotion(t *testing.T) {
	cluster := hooktest.New(t, webhook.Options{}, hooktest.Secret())
	impl := conversion.NewConversionController(cluster.Ctx, "/convert", rods, nil)
	cluster.Start(impl)
	cluster.Lead(impl)
	cluster.Await(func() bool { return impl.WorkQueue().Len() >= 2 }) // one for each CRD
}
