// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package configmaps_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/webhook"
	"weir.dev/pkg/webhook/configmaps"
	"weir.dev/pkg/webhook/internal/hooktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var constructors = configmap.Constructors{"config-size": func(cm *corev1.ConfigMap) (string, error) {
	if cm.Data["size"] == "huge" {
		return "", errors.New("too big")
	}
	return cm.Data["size"], nil
}}

func start(t *testing.T) (*hooktest.Cluster, *controller.Impl) {
	t.Helper()
	cluster := hooktest.New(t, webhook.Options{}, hooktest.Secret(), &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "hook"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "hook", ObjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}},
		}},
	})
	impl := configmaps.NewAdmissionController(cluster.Ctx, "hook", "/config", constructors)
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
	hook := updated[0].(*admissionregistrationv1.ValidatingWebhookConfiguration).Webhooks[0]
	if diff := cmp.Diff(configmaps.Rules(), hook.Rules); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	if hook.ObjectSelector.MatchLabels["app"] != "x" {
		t.Error("which ConfigMaps are looked at is decided by who installs it")
	}
}

func TestAdmit(t *testing.T) {
	cluster, impl := start(t)
	tests := map[string]struct {
		reason    string
		operation admissionv1.Operation
		name      string
		size      string
		want      string // the refusal; "" for none
	}{
		"Good":     {"it parses", webhook.Update, "config-size", "small", ""},
		"Bad":      {"its readers could not parse it", webhook.Create, "config-size", "huge", "validation failed: too big"},
		"Foreign":  {"nobody reads it", webhook.Create, "config-other", "huge", ""},
		"Deletion": {"readers keep what they have", webhook.Delete, "config-size", "huge", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			body, err := json.Marshal(corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: tc.name}, Data: map[string]string{"size": tc.size}})
			if err != nil {
				t.Fatal(err)
			}
			got := impl.Reconciler.(webhook.StatelessAdmissionController).Admit(cluster.Ctx, &admissionv1.AdmissionRequest{
				Operation: tc.operation, Object: runtime.RawExtension{Raw: body},
			})
			message := ""
			if !got.Allowed {
				message = got.Result.Message
			}
			if message != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, message, tc.want)
			}
		})
	}
}

func TestExampleAndTolerance(t *testing.T) {
	cluster, impl := start(t)
	example := func(cm *corev1.ConfigMap) {
		cm.Annotations = map[string]string{configmap.ExampleChecksumAnnotation: "00000000"}
		cm.Data[configmap.ExampleKey] = "changed"
	}
	tests := map[string]struct {
		reason   string
		old, now []func(*corev1.ConfigMap)
		want     bool // allowed
		warnings int
	}{
		"Example":     {"it has no effect", nil, []func(*corev1.ConfigMap){example}, false, 0},
		"OldExample":  {"it was so before", []func(*corev1.ConfigMap){example}, []func(*corev1.ConfigMap){example}, true, 1},
		"BadAsBefore": {"another key may change", []func(*corev1.ConfigMap){huge}, []func(*corev1.ConfigMap){huge}, true, 1},
		"Worse":       {"a new mistake is none of before", []func(*corev1.ConfigMap){example}, []func(*corev1.ConfigMap){example, huge}, false, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := impl.Reconciler.(webhook.AdmissionController).Admit(cluster.Ctx, &admissionv1.AdmissionRequest{
				Operation: webhook.Update, Object: configMap(t, tc.now), OldObject: configMap(t, tc.old),
			})
			if got.Allowed != tc.want || len(got.Warnings) != tc.warnings {
				t.Errorf("%s: got %+v", tc.reason, got)
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	c, err := configmaps.New("/config", constructors)
	if err != nil {
		t.Fatal(err)
	}
	c.WithWarnings(func(cm *corev1.ConfigMap) []string { return []string{"look at " + cm.Name} })
	for name, changes := range map[string][]func(*corev1.ConfigMap){"admitted": nil, "refused": {huge}} {
		got := c.Admit(t.Context(), &admissionv1.AdmissionRequest{Operation: webhook.Create, Object: configMap(t, changes)})
		if want := []string{"look at config-size"}; got.Allowed != cmp.Equal(got.Warnings, want) {
			t.Errorf("%s: what is admitted may have warnings, got %+v", name, got)
		}
	}
	old := c.Admit(t.Context(), &admissionv1.AdmissionRequest{
		Operation: webhook.Update, Object: configMap(t, []func(*corev1.ConfigMap){huge}), OldObject: configMap(t, []func(*corev1.ConfigMap){huge}),
	})
	if want := []string{"too big", "look at config-size"}; !old.Allowed || !cmp.Equal(old.Warnings, want) {
		t.Errorf("warnings add up: got %+v, want %q", old, want)
	}
}

func huge(cm *corev1.ConfigMap) { cm.Data["size"] = "huge" }

func configMap(t *testing.T, changes []func(*corev1.ConfigMap)) runtime.RawExtension {
	t.Helper()
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "config-size"}, Data: map[string]string{}}
	for _, change := range changes {
		change(cm)
	}
	body, err := json.Marshal(cm)
	if err != nil {
		t.Fatal(err)
	}
	return runtime.RawExtension{Raw: body}
}

func TestBadConstructor(t *testing.T) {
	cluster := hooktest.New(t, webhook.Options{})
	defer func() {
		if recover() == nil {
			t.Error("what parses nothing is a mistake in the program")
		}
	}()
	configmaps.NewAdmissionController(cluster.Ctx, "hook", "/config", configmap.Constructors{"x": "y"})
}
