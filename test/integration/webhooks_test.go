// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"weir.dev/pkg/apis"
	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection"
	"weir.dev/pkg/logging"
	"weir.dev/pkg/system"
	"weir.dev/pkg/webhook"
	"weir.dev/pkg/webhook/certificates"
	"weir.dev/pkg/webhook/resourcesemantics"
	"weir.dev/pkg/webhook/resourcesemantics/conversion"
	"weir.dev/pkg/webhook/resourcesemantics/defaulting"
	"weir.dev/pkg/webhook/resourcesemantics/validation"
	"weir.dev/test/harness"
)

// installGadgets applies the manifests for a webhook on that port.
func installGadgets(ctx context.Context, t *testing.T, port int) {
	t.Helper()
	for _, manifest := range strings.Split(strings.ReplaceAll(gadgetManifests, "PORT", strconv.Itoa(port)), "---\n") {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(manifest), &o.Object); err != nil {
			t.Fatal(err)
		}
		resource := client.Resource(apis.KindToResource(o.GroupVersionKind())).Namespace(o.GetNamespace())
		if _, err := resource.Create(ctx, o, metav1.CreateOptions{}); err != nil {
			t.Fatalf("%s %s: %v", o.GetKind(), o.GetName(), err)
		}
	}
}

func gadgetConstructors() []injection.ControllerConstructor {
	kinds := map[schema.GroupVersionKind]resourcesemantics.GenericCRD{
		{Group: gadgetsGroup, Version: "v1", Kind: "Gadget"}: &gadget{},
	}
	same := func(ctx context.Context) context.Context { return ctx }
	return []injection.ControllerConstructor{
		certificates.NewController,
		func(ctx context.Context, _ configmap.Watcher) *controller.Impl {
			return defaulting.NewAdmissionController(ctx, "defaulting.gadgets.weir.dev", "/defaulting", kinds, same, true)
		},
		func(ctx context.Context, _ configmap.Watcher) *controller.Impl {
			return validation.NewAdmissionController(ctx, "validation.gadgets.weir.dev", "/validation", kinds, same, true)
		},
		func(ctx context.Context, _ configmap.Watcher) *controller.Impl {
			return conversion.NewConversionController(ctx, "/conversion", map[schema.GroupKind]conversion.GroupKindConversion{
				{Group: gadgetsGroup, Kind: "Gadget"}: {
					DefinitionName: "gadgets." + gadgetsGroup, HubVersion: "v1",
					Zygotes: map[string]conversion.ConvertibleObject{"v1": &gadget{}, "v1beta1": &oldGadget{}},
				},
			}, same)
		},
	}
}

// startWebhook serves the webhooks on loopback until the test ends.
func startWebhook(ctx context.Context, t *testing.T, listener net.Listener) []*controller.Impl {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ctx = system.WithNamespace(logging.WithLogger(ctx, zap.NewNop().Sugar()), "gadgets")
	ctx = webhook.WithOptions(ctx, webhook.Options{ServiceName: "hook", SecretName: "certs", GracePeriod: time.Millisecond})
	ctx, informers := injection.Default.SetupInformers(ctx, config)
	var controllers []*controller.Impl
	var hooks []any
	for _, constructor := range gadgetConstructors() {
		impl, err := injection.Construct(ctx, constructor, configmap.NewStaticWatcher())
		if err != nil {
			t.Fatal(err)
		}
		controllers, hooks = append(controllers, impl), append(hooks, impl.Reconciler)
	}
	hook, err := webhook.New(ctx, hooks[1:]) // the first keeps certificates
	if err != nil {
		t.Fatal(err)
	}
	wait, err := controller.RunInformers(ctx.Done(), informers...)
	if err != nil {
		t.Fatal(err)
	}
	hook.InformersHaveSynced()
	ended := make(chan error, 2)
	go func() { ended <- hook.Serve(ctx, listener) }()
	go func() { ended <- controller.StartAll(ctx, controllers...) }()
	t.Cleanup(func() {
		cancel()
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		wait()
	})
	return controllers
}

// registrations are the objects that the webhook completes.
var registrations = map[string]schema.GroupVersionResource{
	"gadgets." + gadgetsGroup:     {Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
	"defaulting.gadgets.weir.dev": {Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingwebhookconfigurations"},
	"validation.gadgets.weir.dev": {Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingwebhookconfigurations"},
}

// TestWebhooksOfTheKit runs a webhook of the kit beside a real API server: it
// registers itself, in one write each, defaults, validates, and converts.
func TestWebhooksOfTheKit(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	installGadgets(ctx, t, listener.Addr().(*net.TCPAddr).Port)
	t.Cleanup(func() {
		for name, resource := range registrations {
			_ = client.Resource(resource).Delete(context.Background(), name, metav1.DeleteOptions{})
		}
	})
	controllers := startWebhook(ctx, t, listener)
	if err := harness.Eventually(ctx, "the webhook is registered", func(ctx context.Context) (bool, error) {
		_, err := client.Resource(gadgets("v1")).Namespace("default").Create(ctx, newGadget("v1", "size", "huge"), metav1.CreateOptions{DryRun: []string{"All"}})
		return err != nil && strings.Contains(err.Error(), "invalid value: huge: spec.size"), nil
	}); err != nil {
		t.Fatal(err)
	}

	made, err := client.Resource(gadgets("v1beta1")).Namespace("default").Create(ctx, newGadget("v1beta1", "", ""), metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("Create: %v", err)
	}
	if size, _, _ := unstructured.NestedString(made.Object, "spec", "bigness"); size != "small" {
		t.Errorf("the old version has %v, want the default of the new one", made.Object["spec"])
	}
	stored, err := client.Resource(gadgets("v1")).Namespace("default").Get(ctx, "it", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if size, _, _ := unstructured.NestedString(stored.Object, "spec", "size"); size != "small" {
		t.Errorf("the new version has %v", stored.Object["spec"])
	}

	before := versions(ctx, t)
	for _, c := range controllers[1:] {
		for name := range registrations {
			if err := c.Reconciler.Reconcile(ctx, name); err != nil && !controller.IsPermanentError(err) {
				t.Errorf("Reconcile %s again: %v", name, err)
			}
		}
	}
	if after := versions(ctx, t); after != before {
		t.Errorf("another run writes although nothing changed: versions %s, then %s", before, after)
	}
}

func newGadget(version, field, value string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
	o.SetGroupVersionKind(schema.GroupVersionKind{Group: gadgetsGroup, Version: version, Kind: "Gadget"})
	o.SetName("it")
	if field != "" {
		o.Object["spec"] = map[string]any{field: value}
	}
	return o
}

// versions are the resource versions of the registrations.
func versions(ctx context.Context, t *testing.T) string {
	t.Helper()
	var all []string
	for _, name := range []string{"gadgets." + gadgetsGroup, "defaulting.gadgets.weir.dev", "validation.gadgets.weir.dev"} {
		o, err := client.Resource(registrations[name]).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, o.GetResourceVersion())
	}
	return strings.Join(all, " ")
}
