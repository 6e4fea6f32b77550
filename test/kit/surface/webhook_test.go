// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package surface_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	apixv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	_ "weir.dev/pkg/client/injection/apiextensions/client/fake"                                                   // for conversion
	_ "weir.dev/pkg/client/injection/apiextensions/informers/apiextensions/v1/customresourcedefinition/fake"      // for conversion
	_ "weir.dev/pkg/client/injection/kube/informers/admissionregistration/v1/mutatingwebhookconfiguration/fake"   // for defaulting
	_ "weir.dev/pkg/client/injection/kube/informers/admissionregistration/v1/validatingwebhookconfiguration/fake" // for validation
	_ "weir.dev/pkg/client/injection/kube/informers/core/v1/namespace/fake"                                       // the owner
	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
	rtesting "weir.dev/pkg/reconciler/testing"
	"weir.dev/pkg/webhook"
	"weir.dev/pkg/webhook/certificates"
	"weir.dev/pkg/webhook/configmaps"
	"weir.dev/pkg/webhook/resourcesemantics"
	"weir.dev/pkg/webhook/resourcesemantics/conversion"
	"weir.dev/pkg/webhook/resourcesemantics/defaulting"
	"weir.dev/pkg/webhook/resourcesemantics/validation"
)

// The signatures are pinned in pkg/webhook/surface_test.go, and what the server
// does is tested there. This calls the webhooks as an API server does.
var (
	_ resourcesemantics.GenericCRD         = (*gadget)(nil)
	_ resourcesemantics.VerbLimited        = (*limited)(nil)
	_ resourcesemantics.SubResourceLimited = (*gadget)(nil)
	_ conversion.ConvertibleObject         = (*gadget)(nil)
	_ webhook.AdmissionController          = (*stateless)(nil)
	_ webhook.ConversionController         = (*conversion.Converter)(nil)

	gadgetKind = (&gadget{}).GetGroupVersionKind()
)

type limited struct{ gadget }

func (*limited) SupportedVerbs() []admissionv1.Operation {
	return []admissionv1.Operation{webhook.Create, webhook.Update}
}

// stateless is a webhook that answers before the informers have synced.
type stateless struct{ webhook.StatelessAdmissionImpl }

func (*stateless) Path() string { return "/stateless" }
func (*stateless) Admit(_ context.Context, req *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return webhook.MakeErrorStatus("%s is refused", req.Name)
}

// webhookContext has all options that there are.
func webhookContext(t *testing.T) context.Context {
	ctx, _ := rtesting.SetupFakeContext(t)
	return webhook.WithOptions(ctx, webhook.Options{
		ServiceName: "webhook", SecretName: "certs", Port: 8443,
		TLSMinVersion: tls.VersionTLS12, TLSMaxVersion: tls.VersionTLS13,
		TLSCipherSuites:      []uint16{tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256},
		TLSCurvePreferences:  []tls.CurveID{tls.X25519},
		ServerPrivateKeyName: "tls.key", ServerCertificateName: "tls.crt",
		GracePeriod: time.Second, DisableNamespaceOwnership: true, ControllerOptions: &controller.ControllerOptions{WorkQueueName: "hooks"},
		EnableHTTP2: false, MeterProvider: metricnoop.NewMeterProvider(), TracerProvider: tracenoop.NewTracerProvider(),
		TextMapPropagator: propagation.TraceContext{},
	})
}

// admit asks the webhook of a controller about the creation of an object.
func admit(t *testing.T, impl *controller.Impl, gvk schema.GroupVersionKind, obj interface{}) *admissionv1.AdmissionResponse {
	t.Helper()
	t.Cleanup(impl.WorkQueue().ShutDown)
	raw, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	hook, ok := impl.Reconciler.(webhook.AdmissionController)
	if !ok || hook.Path() != "/path" {
		t.Fatalf("%T is no webhook of its path", impl.Reconciler)
	}
	return hook.Admit(t.Context(), &admissionv1.AdmissionRequest{
		Operation: webhook.Create, Kind: metav1.GroupVersionKind(gvk), Resource: metav1.GroupVersionResource{Group: gvk.Group, Version: gvk.Version, Resource: "gadgets"},
		Object: runtime.RawExtension{Raw: raw}, UserInfo: authenticationv1.UserInfo{Username: "me"},
	})
}

func wrap(ctx context.Context) context.Context { return ctx }

func TestDefaulting(t *testing.T) {
	callback := defaulting.NewCallback(func(_ context.Context, u *unstructured.Unstructured) error {
		return unstructured.SetNestedField(u.Object, "red", "spec", "colour")
	}, webhook.Create, webhook.Update)
	impl := defaulting.NewAdmissionController(webhookContext(t), "name", "/path",
		map[schema.GroupVersionKind]resourcesemantics.GenericCRD{gadgetKind: &gadget{}}, wrap, true,
		map[schema.GroupVersionKind]defaulting.Callback{gadgetKind: callback})
	resp := admit(t, impl, gadgetKind, &gadget{})
	if !resp.Allowed {
		t.Fatalf("refused: %+v", resp.Result)
	}
	for _, want := range []string{`/spec/size`, `"red"`, "creator", "lastModifier", "me"} {
		if !strings.Contains(string(resp.Patch), want) {
			t.Errorf("%s is missing in %s", want, resp.Patch)
		}
	}
	if !panics(func() { defaulting.NewCallback(nil, webhook.Delete) }) {
		t.Error("there is nothing to default in what is deleted")
	}
}

func TestValidation(t *testing.T) {
	callback := validation.NewCallback(func(_ context.Context, u *unstructured.Unstructured) error {
		if u.GetName() == "bad" {
			return errors.New("bad name")
		}
		return nil
	}, webhook.Create, webhook.Delete)
	impl := validation.NewAdmissionController(webhookContext(t), "name", "/path",
		map[schema.GroupVersionKind]resourcesemantics.GenericCRD{gadgetKind: &gadget{}}, wrap, true,
		map[schema.GroupVersionKind]validation.Callback{gadgetKind: callback})
	for name, tc := range map[string]struct {
		obj  interface{}
		want string
	}{
		"Valid":    {&gadget{Spec: gadgetSpec{Size: 5}}, ""},
		"Invalid":  {&gadget{Spec: gadgetSpec{Size: 11}}, "expected 0 <= 11 <= 10: spec.size"},
		"Callback": {&gadget{ObjectMeta: metav1.ObjectMeta{Name: "bad"}}, "bad name"},
		"Unknown":  {map[string]any{"spec": map[string]any{"unknown": 1}}, "unknown"},
	} {
		resp := admit(t, impl, gadgetKind, tc.obj)
		if resp.Allowed != (tc.want == "") || !resp.Allowed && !strings.Contains(resp.Result.Message, tc.want) {
			t.Errorf("%s: %+v", name, resp)
		}
	}
	resp := admit(t, impl, gadgetKind, &gadget{Spec: gadgetSpec{Colour: "grey"}})
	if d := cmp.Diff([]string{"invalid value: grey: spec.colour", "dull"}, resp.Warnings); d != "" || !resp.Allowed {
		t.Errorf("warnings, a line each (-want +got):\n%s", d)
	}
}

func TestConfigMapWebhook(t *testing.T) {
	impl := configmaps.NewAdmissionController(webhookContext(t), "name", "/path", configmap.Constructors{"size": newSize})
	kind := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	for value, allowed := range map[string]bool{"1": true, "none": false} {
		if resp := admit(t, impl, kind, configMap("size", map[string]string{"n": value})); resp.Allowed != allowed {
			t.Errorf("%s: %+v", value, resp)
		}
	}
}

func TestConversion(t *testing.T) {
	hub, old := &gadget{}, &gadget{}
	impl := conversion.NewConversionController(webhookContext(t), "/path", map[schema.GroupKind]conversion.GroupKindConversion{
		gadgetKind.GroupKind(): {
			DefinitionName: "gadgets.example.com", HubVersion: "v1",
			Zygotes: map[string]conversion.ConvertibleObject{"v1": hub, "v0": old},
		},
	}, wrap)
	t.Cleanup(impl.WorkQueue().ShutDown)
	converter, ok := impl.Reconciler.(webhook.ConversionController)
	if !ok || converter.Path() != "/path" {
		t.Fatalf("%T converts nothing", impl.Reconciler)
	}
	resp := converter.Convert(t.Context(), &apixv1.ConversionRequest{UID: "uid", DesiredAPIVersion: "example.com/v1", Objects: []runtime.RawExtension{
		{Raw: []byte(`{"apiVersion":"example.com/v0","kind":"Gadget","metadata":{"name":"g"},"spec":{"size":3}}`)},
	}})
	if resp.UID != "uid" || resp.Result.Status != metav1.StatusSuccess || len(resp.ConvertedObjects) != 1 {
		t.Fatalf("got %+v", resp)
	}
	var got gadget
	if err := json.Unmarshal(resp.ConvertedObjects[0].Raw, &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(gadgetSpec{Size: 3}, got.Spec); d != "" || got.APIVersion != "example.com/v1" {
		t.Errorf("converted to %s (-want +got):\n%s", got.APIVersion, d)
	}
}

func TestWebhookParts(t *testing.T) {
	resp := (&stateless{}).Admit(t.Context(), &admissionv1.AdmissionRequest{Name: "name"})
	if resp.Allowed || resp.Result.Message != "name is refused" {
		t.Errorf("MakeErrorStatus: %+v", resp)
	}
	opts := webhook.GetOptions(webhookContext(t))
	if opts == nil || opts.ServiceName != "webhook" || webhook.GetOptions(t.Context()) != nil {
		t.Errorf("the options of the context are %+v", opts)
	}
	if webhook.ExcludeLabel != "webhooks.knative.dev/exclude" || certificates.CACert != "ca-cert.pem" {
		t.Errorf("labels and keys: %s, %s", webhook.ExcludeLabel, certificates.CACert)
	}
}
