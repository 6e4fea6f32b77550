// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package defaulting_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"weir.dev/pkg/controller"
	"weir.dev/pkg/webhook"
	"weir.dev/pkg/webhook/internal/hooktest"
	"weir.dev/pkg/webhook/resourcesemantics"
	"weir.dev/pkg/webhook/resourcesemantics/defaulting"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var kinds = map[schema.GroupVersionKind]resourcesemantics.GenericCRD{hooktest.GadgetKind: &hooktest.Gadget{}}

type callbacks = map[schema.GroupVersionKind]defaulting.Callback

// start makes the controller; it does not run.
func start(t *testing.T, strict bool, sets ...callbacks) (*hooktest.Cluster, *controller.Impl) {
	t.Helper()
	installed := &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "hook"}, Webhooks: []admissionregistrationv1.MutatingWebhook{{Name: "hook"}},
	}
	cluster := hooktest.New(t, webhook.Options{}, installed, hooktest.Secret())
	medium := func(ctx context.Context) context.Context { return hooktest.WithDefaultSize(ctx, "medium") }
	impl := defaulting.NewAdmissionController(cluster.Ctx, "hook", "/defaulting", kinds, medium, strict, sets...)
	cluster.Start(impl)
	return cluster, impl
}

func TestRegistration(t *testing.T) {
	cluster, impl := start(t, false)
	cluster.Lead(impl)
	if err := impl.Reconciler.Reconcile(cluster.Ctx, "hook"); err != nil {
		t.Fatal(err)
	}
	updated := cluster.Updated()
	if len(updated) != 1 {
		t.Fatalf("want one update, got %v", updated)
	}
	hook := updated[0].(*admissionregistrationv1.MutatingWebhookConfiguration).Webhooks[0]
	all := admissionregistrationv1.AllScopes
	want := []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{"CREATE", "UPDATE"},
		Rule: admissionregistrationv1.Rule{
			APIGroups: []string{"test.weir.dev"}, APIVersions: []string{"v1"}, Resources: []string{"gadgets", "gadgets/status"}, Scope: &all,
		},
	}}
	if diff := cmp.Diff(want, hook.Rules); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	if *hook.ClientConfig.Service.Path != "/defaulting" || string(hook.ClientConfig.CABundle) != hooktest.CABundle {
		t.Errorf("got %+v", hook.ClientConfig)
	}
}

func request(operation admissionv1.Operation, object, old string) *admissionv1.AdmissionRequest {
	raw := func(s string) (r runtime.RawExtension) {
		if s != "" {
			r.Raw = []byte(s)
		}
		return r
	}
	return &admissionv1.AdmissionRequest{
		Operation: operation, Kind: metav1.GroupVersionKind(hooktest.GadgetKind),
		Resource: metav1.GroupVersionResource{Group: "test.weir.dev", Version: "v1", Resource: "gadgets"},
		UserInfo: authenticationv1.UserInfo{Username: "alice"},
		Object:   raw(object), OldObject: raw(old),
	}
}

func labelled(key string) defaulting.Callback {
	return defaulting.NewCallback(func(_ context.Context, obj *unstructured.Unstructured) error {
		labels := obj.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		labels[key] = obj.GetName()
		obj.SetLabels(labels)
		return nil
	}, webhook.Create)
}

func TestAdmit(t *testing.T) {
	failing := defaulting.NewCallback(func(context.Context, *unstructured.Unstructured) error { return errors.New("not today") }, webhook.Update)
	both := []callbacks{{hooktest.GadgetKind: labelled("a")}, {hooktest.GadgetKind: labelled("b")}}
	tests := map[string]struct {
		reason    string
		strict    bool
		callbacks []callbacks
		req       *admissionv1.AdmissionRequest
		want      []string // parts of the object, or of the refusal
		refused   bool
	}{
		"Defaults": {
			"by the context of the caller, and who did it", false, nil,
			request(webhook.Create, `{"metadata":{"name":"x"},"spec":{}}`, ""),
			[]string{`"size":"medium"`, `"test.weir.dev/creator":"alice"`, `"test.weir.dev/lastModifier":"alice"`}, false,
		},
		"Callbacks": {
			"each of the kind's, after the defaults", false, both,
			request(webhook.Create, `{"metadata":{"name":"x"},"spec":{}}`, ""),
			[]string{`"labels":{"a":"x","b":"x"}`, `"size":"medium"`}, false,
		},
		"OtherVerb": {
			"a callback is for its operations", false, both,
			request(webhook.Update, `{"metadata":{"name":"x"},"spec":{"size":"tiny"}}`, `{"spec":{"size":"small"}}`),
			[]string{`{"metadata":{"annotations":{"test.weir.dev/lastModifier":"alice"},"name":"x"},"spec":{"size":"tiny"}}`}, false,
		},
		"FailingCallback": {
			"it refuses", false, []callbacks{{hooktest.GadgetKind: failing}},
			request(webhook.Update, `{"spec":{}}`, `{"spec":{}}`), []string{"mutation failed: callback failed: not today"}, true,
		},
		"UnknownField": {
			"the caller asked for that", true, nil,
			request(webhook.Create, `{"spec":{"colour":"red"}}`, ""), []string{`mutation failed`, `unknown field "colour"`}, true,
		},
		"UnknownFieldTolerated": {
			"the schema has judged it", false, nil,
			request(webhook.Create, `{"spec":{"colour":"red"}}`, ""), []string{`"size":"medium"`}, false,
		},
		"Mistyped": {"the schema speaks next, and names the field", false, nil, request(webhook.Create, `{"spec":7}`, ""), []string{`{"spec":7}`}, false},
		"NoObject": {"a review may be anything", false, nil, request(webhook.Create, "", ""), []string{"mutation failed: the request has no object"}, true},
		"Owned": {
			"its owner has an author", false, nil,
			request(webhook.Create, `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"A","name":"a","uid":"u"}]},"spec":{"size":"big"}}`, ""),
			[]string{`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"A","name":"a","uid":"u"}]},"spec":{"size":"big"}}`}, false,
		},
		"Deletion": {"nothing is to be filled in", false, nil, request(webhook.Delete, "", `{"spec":{}}`), []string{""}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster, impl := start(t, tc.strict, tc.callbacks...)
			response := impl.Reconciler.(webhook.StatelessAdmissionController).Admit(cluster.Ctx, tc.req)
			if response.Allowed == tc.refused {
				t.Fatalf("%s: got %+v", tc.reason, response)
			}
			got := string(tc.req.Object.Raw)
			if tc.refused {
				got = response.Result.Message
			} else if response.Patch != nil {
				got = apply(t, response.Patch, tc.req.Object.Raw)
			}
			for _, want := range tc.want {
				if !strings.Contains(got, want) {
					t.Errorf("%s: got %s, want %s", tc.reason, got, want)
				}
			}
		})
	}
}

func apply(t *testing.T, patch, object []byte) string {
	t.Helper()
	decoded, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		t.Fatal(err)
	}
	out, err := decoded.Apply(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestNoCallbackOfDeletions(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("such a callback would never be called")
		}
	}()
	defaulting.NewCallback(nil, webhook.Create, webhook.Delete)
}
