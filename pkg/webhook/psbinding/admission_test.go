// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package psbinding_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"weir.dev/pkg/controller"
	"weir.dev/pkg/webhook"
	"weir.dev/pkg/webhook/internal/hooktest"
	"weir.dev/pkg/webhook/psbinding"
)

func start(t *testing.T, tags []psbinding.Bindable, opts ...psbinding.ReconcilerOption) (*hooktest.Cluster, *controller.Impl) {
	t.Helper()
	cluster := hooktest.New(t, webhook.Options{}, hooktest.Secret(), &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "hook"}, Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: "hook", ObjectSelector: &metav1.LabelSelector{MatchExpressions: psbinding.ExclusionSelector.MatchExpressions},
		}},
	})
	list := func(context.Context, cache.ResourceEventHandler) psbinding.ListAll {
		return func() ([]psbinding.Bindable, error) { return tags, nil }
	}
	impl := psbinding.NewAdmissionController(cluster.Ctx, "hook", "/binding", list, wrap, opts...)
	cluster.Start(impl)
	return cluster, impl
}

func TestRegistration(t *testing.T) {
	job := newTag("b", func(t *tag) { t.Subject.APIVersion, t.Subject.Kind = "batch/v1", "Job" })
	cluster, impl := start(t, []psbinding.Bindable{job, newTag("a"), newTag("c")}, psbinding.WithSelector(psbinding.InclusionSelector))
	cluster.Lead(impl)
	if err := impl.Reconciler.Reconcile(cluster.Ctx, "hook"); err != nil {
		t.Fatal(err)
	}
	updated := cluster.Updated()
	if len(updated) != 1 {
		t.Fatalf("want one update, got %v", updated)
	}
	hook := updated[0].(*admissionregistrationv1.MutatingWebhookConfiguration).Webhooks[0]
	if len(hook.Rules) != 2 || hook.Rules[0].Resources[0] != "deployments" || hook.Rules[1].Resources[0] != "jobs" {
		t.Errorf("want a rule for each kind of subject, got %+v", hook.Rules)
	}
	if diff := cmp.Diff(&psbinding.InclusionSelector, hook.ObjectSelector); diff != "" {
		t.Errorf("another choice replaces the last one (-want +got):\n%s", diff)
	}
	want := append(webhook.NamespaceSelector().MatchExpressions, psbinding.InclusionSelector.MatchExpressions...)
	if diff := cmp.Diff(want, hook.NamespaceSelector.MatchExpressions); diff != "" {
		t.Errorf("namespaces (-want +got):\n%s", diff)
	}
}

func TestAdmit(t *testing.T) {
	red := map[string]string{"colour": "red"}
	tests := map[string]struct {
		reason  string
		tags    []psbinding.Bindable
		subject *appsv1.Deployment
		change  func(*admissionv1.AdmissionRequest)
		want    []corev1.EnvVar
		refusal string
	}{
		"Named":    {"it is bound, with the binding's context", []psbinding.Bindable{newTag("a")}, deployment("app", nil), nil, []corev1.EnvVar{{Name: "a", Value: "by a"}}, ""},
		"Other":    {"it is nobody's subject", []psbinding.Bindable{newTag("a")}, deployment("other", nil), nil, nil, ""},
		"Selected": {"by its labels", []psbinding.Bindable{newTag("a", selecting(red))}, deployment("any", red), nil, []corev1.EnvVar{{Name: "a", Value: "by a"}}, ""},
		"Colour":   {"another label", []psbinding.Bindable{newTag("a", selecting(red))}, deployment("any", nil), nil, nil, ""},
		"Several": {
			"each of them, in a fixed order", []psbinding.Bindable{newTag("b"), newTag("a"), newTag("c", selecting(red))}, deployment("app", red), nil,
			[]corev1.EnvVar{{Name: "a", Value: "by a"}, {Name: "b", Value: "by b"}, {Name: "c", Value: "by c"}}, "",
		},
		"Bound":   {"nothing changes", []psbinding.Bindable{newTag("a")}, deployment("app", nil, corev1.EnvVar{Name: "a", Value: "by a"}), nil, []corev1.EnvVar{{Name: "a", Value: "by a"}}, ""},
		"Deleted": {"the binding is on its way out", []psbinding.Bindable{newTag("a", deleted)}, deployment("app", nil, corev1.EnvVar{Name: "a", Value: "by a"}), nil, nil, ""},
		"Namespace": {
			"subjects are where the binding says", []psbinding.Bindable{newTag("a", func(t *tag) { t.Namespace = "elsewhere" })},
			deployment("app", nil), nil, nil, "",
		},
		"Invalid": {
			"a bad selector does not keep others", []psbinding.Bindable{newTag("a"), newTag("b", selecting(map[string]string{"!": "x"}))},
			deployment("app", nil), nil, []corev1.EnvVar{{Name: "a", Value: "by a"}}, "",
		},
		"Broken": {
			"it would run unbound", []psbinding.Bindable{newTag("broken")}, deployment("app", nil), nil, nil,
			"binding to Tag there/broken failed: it is broken",
		},
		"Deletion": {"nothing is written", []psbinding.Bindable{newTag("a")}, deployment("app", nil), func(r *admissionv1.AdmissionRequest) { r.Operation = webhook.Delete }, nil, ""},
		"Status":   {"it has no pods", []psbinding.Bindable{newTag("a")}, deployment("app", nil), func(r *admissionv1.AdmissionRequest) { r.SubResource = "status" }, nil, ""},
		"Junk":     {"it has none either", nil, deployment("app", nil), func(r *admissionv1.AdmissionRequest) { r.Object.Raw = []byte("7") }, nil, "decoding request failed"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster, impl := start(t, tc.tags)
			if err := impl.Reconciler.Reconcile(cluster.Ctx, "hook"); !controller.IsSkipKey(err) {
				t.Fatalf("a replica that does not lead binds, too, and writes nothing: %v", err)
			}
			raw, err := json.Marshal(tc.subject)
			if err != nil {
				t.Fatal(err)
			}
			req := &admissionv1.AdmissionRequest{
				Operation: webhook.Create, Namespace: ns, Name: tc.subject.Name,
				Kind: metav1.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, Object: runtime.RawExtension{Raw: raw},
			}
			if tc.change != nil {
				tc.change(req)
			}
			got := impl.Reconciler.(webhook.AdmissionController).Admit(cluster.Ctx, req)
			if !got.Allowed {
				if tc.refusal == "" || !strings.HasPrefix(got.Result.Message, tc.refusal) {
					t.Errorf("%s: got %q, want %q", tc.reason, got.Result.Message, tc.refusal)
				}
				return
			}
			if diff := cmp.Diff(tc.want, patched(t, got.Patch, req.Object.Raw)); diff != "" || tc.refusal != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// patched is the environment of a Deployment's first container after a patch.
func patched(t *testing.T, patch, raw []byte) []corev1.EnvVar {
	t.Helper()
	if patch != nil {
		decoded, err := jsonpatch.DecodePatch(patch)
		if err != nil {
			t.Fatal(err)
		}
		if raw, err = decoded.Apply(raw); err != nil {
			t.Fatal(err)
		}
	}
	out := &appsv1.Deployment{}
	if err := json.Unmarshal(raw, out); err != nil {
		t.Fatal(err)
	}
	return out.Spec.Template.Spec.Containers[0].Env
}

func TestAdmitBeforeIndex(t *testing.T) {
	_, impl := start(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got := impl.Reconciler.(webhook.AdmissionController).Admit(ctx, &admissionv1.AdmissionRequest{Operation: webhook.Create})
	if got.Allowed {
		t.Error("a subject must not slip by while nobody knows its bindings")
	}
	if _, ok := impl.Reconciler.(webhook.StatelessAdmissionController); ok {
		t.Error("nor before the informers have synced")
	}
}

func TestListFails(t *testing.T) {
	cluster := hooktest.New(t, webhook.Options{}, hooktest.Secret())
	failure := errors.New("no")
	impl := psbinding.NewAdmissionController(cluster.Ctx, "hook", "/binding", func(context.Context, cache.ResourceEventHandler) psbinding.ListAll {
		return func() ([]psbinding.Bindable, error) { return nil, failure }
	}, nil)
	cluster.Start(impl)
	if err := impl.Reconciler.Reconcile(cluster.Ctx, "hook"); !errors.Is(err, failure) {
		t.Errorf("want another try, got %v", err)
	}
}
