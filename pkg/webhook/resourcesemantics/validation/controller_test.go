// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"weir.dev/pkg/controller"
	"weir.dev/pkg/webhook"
	"weir.dev/pkg/webhook/internal/hooktest"
	"weir.dev/pkg/webhook/resourcesemantics"
	"weir.dev/pkg/webhook/resourcesemantics/validation"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var kinds = map[schema.GroupVersionKind]resourcesemantics.GenericCRD{hooktest.GadgetKind: &hooktest.Gadget{}}

type callbacks = map[schema.GroupVersionKind]validation.Callback

// start makes the controller; it does not run.
func start(t *testing.T, sets ...callbacks) (*hooktest.Cluster, *controller.Impl) {
	t.Helper()
	installed := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "hook"}, Webhooks: []admissionregistrationv1.ValidatingWebhook{{Name: "hook"}},
	}
	cluster := hooktest.New(t, webhook.Options{}, installed, hooktest.Secret())
	impl := validation.NewAdmissionController(cluster.Ctx, "hook", "/validation", kinds, nil, false, sets...)
	cluster.Start(impl)
	return cluster, impl
}

func TestRegistration(t *testing.T) {
	cluster, impl := start(t)
	cluster.Lead(impl)
	if err := impl.Reconciler.Reconcile(cluster.Ctx, "hook"); err != nil {
		t.Fatal(err)
	}
	updated := cluster.Updated()
	if len(updated) != 1 {
		t.Fatalf("want one update, got %v", updated)
	}
	rules := updated[0].(*admissionregistrationv1.ValidatingWebhookConfiguration).Webhooks[0].Rules
	want := []admissionregistrationv1.OperationType{"CREATE", "UPDATE", "DELETE"}
	if len(rules) != 1 || !cmp.Equal(rules[0].Operations, want) {
		t.Errorf("got %+v, want %v", rules, want)
	}
}

func TestAdmit(t *testing.T) {
	refuse := callbacks{hooktest.GadgetKind: validation.NewCallback(func(_ context.Context, obj *unstructured.Unstructured) error {
		return errors.New("not " + obj.GetName())
	}, webhook.Delete)}
	nothing := callbacks{hooktest.GadgetKind: validation.NewCallback(func(context.Context, *unstructured.Unstructured) error { return nil }, webhook.Delete)}
	tests := map[string]struct {
		reason    string
		callbacks []callbacks
		operation admissionv1.Operation
		object    string
		want      string // the refusal; "" for none
		warnings  []string
	}{
		"Good":     {"it is", nil, webhook.Create, `{"spec":{"size":"small"}}`, "", nil},
		"Bad":      {"the message names the field", nil, webhook.Create, `{"spec":{"size":"huge"}}`, "validation failed: invalid value: huge: spec.size", nil},
		"Warnings": {"one a line", nil, webhook.Create, `{"spec":{"size":"big"}}`, "", []string{"rather big: spec.size", "think of something smaller: spec.size"}},
		"Junk":     {"it cannot be judged", nil, webhook.Create, `{"spec":7}`, "decoding request failed: cannot decode incoming new object: json: cannot unmarshal number into Go struct field Gadget.spec of type hooktest.GadgetSpec", nil},
		"Deletion": {"it passes", nil, webhook.Delete, `{"metadata":{"name":"x"},"spec":{"size":"huge"}}`, "", nil},
		"RefusedDeletion": {
			"a callback may object, whatever others say", []callbacks{nothing, refuse}, webhook.Delete,
			`{"metadata":{"name":"x"},"spec":{}}`, "validation callback failed: not x", nil,
		},
		"OtherVerb": {"a callback is for its operations", []callbacks{refuse}, webhook.Create, `{"spec":{}}`, "", nil},
		"Connect":   {"nothing is to be judged", nil, webhook.Connect, `{}`, "", nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster, impl := start(t, tc.callbacks...)
			req := &admissionv1.AdmissionRequest{Operation: tc.operation, Kind: metav1.GroupVersionKind(hooktest.GadgetKind)}
			object := runtime.RawExtension{Raw: []byte(tc.object)}
			if tc.operation == webhook.Delete {
				req.OldObject = object
			} else {
				req.Object = object
			}
			got := impl.Reconciler.(webhook.StatelessAdmissionController).Admit(cluster.Ctx, req)
			message := ""
			if !got.Allowed {
				message = got.Result.Message
			}
			if message != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, message, tc.want)
			}
			if diff := cmp.Diff(tc.warnings, got.Warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTolerance(t *testing.T) {
	tests := map[string]struct {
		reason   string
		kind     string
		old, now string
		want     string // the refusal; "" for none
		warnings []string
	}{
		"SameSpec": {
			"a label may change beside a spec that was stored under other rules", "Gadget",
			`{"spec":{"size":"huge"}}`, `{"metadata":{"labels":{"a":"b"}},"spec":{"size":"huge"}}`, "", []string{"invalid value: huge: spec.size"},
		},
		"WorseSpec":  {"one that becomes bad is refused", "Gadget", `{"spec":{"size":"small"}}`, `{"spec":{"size":"huge"}}`, "validation failed: invalid value: huge: spec.size", nil},
		"Leaving":    {"whoever takes its finalizer off cannot mend it", "Gadget", `{"spec":{"size":"small"}}`, `{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"},"spec":{"size":"huge"}}`, "", nil},
		"OldIsJunk":  {"what was stored cannot be read", "Gadget", `7`, `{"spec":{}}`, "decoding request failed: cannot decode incoming old object: json: cannot unmarshal number into Go value of type hooktest.Gadget", nil},
		"OtherKinds": {"it must not pass unseen", "Unheard", `{}`, `{}`, "unhandled kind: test.weir.dev/v1, Kind=Unheard", nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster, impl := start(t)
			req := &admissionv1.AdmissionRequest{
				Operation: webhook.Update, Kind: metav1.GroupVersionKind(hooktest.GadgetKind),
				Object: runtime.RawExtension{Raw: []byte(tc.now)}, OldObject: runtime.RawExtension{Raw: []byte(tc.old)},
			}
			req.Kind.Kind = tc.kind
			got := impl.Reconciler.(webhook.AdmissionController).Admit(cluster.Ctx, req)
			message := ""
			if !got.Allowed {
				message = got.Result.Message
			}
			if message != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, message, tc.want)
			}
			if diff := cmp.Diff(tc.warnings, got.Warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}
