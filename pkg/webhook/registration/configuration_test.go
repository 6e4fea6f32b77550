// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package registration_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"weir.dev/pkg/controller"
	"weir.dev/pkg/ptr"
	"weir.dev/pkg/system"
	"weir.dev/pkg/webhook"
	"weir.dev/pkg/webhook/internal/hooktest"
	"weir.dev/pkg/webhook/registration"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const name, path = "hook.example.com", "/path"

type (
	configuration = admissionregistrationv1.ValidatingWebhookConfiguration
	hook          = admissionregistrationv1.ValidatingWebhook
)

var rules = []admissionregistrationv1.RuleWithOperations{{Operations: []admissionregistrationv1.OperationType{"CREATE"}}}

// installed is a configuration as manifests have it.
func installed(changes ...func(*configuration, *hook)) *configuration {
	c := &configuration{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Webhooks: []hook{{
			Name: name,
			ClientConfig: admissionregistrationv1.WebhookClientConfig{
				Service: &admissionregistrationv1.ServiceReference{Namespace: "elsewhere", Name: "gate", Port: ptr.Int32(8443)},
			},
		}},
	}
	for _, change := range changes {
		change(c, &c.Webhooks[0])
	}
	return c
}

// right changes a configuration to what it is to be.
func right(c *configuration, h *hook) {
	c.OwnerReferences = append(c.OwnerReferences, owner(hooktest.NamespaceUID))
	h.Rules = rules
	h.ClientConfig.CABundle = []byte(hooktest.CABundle)
	h.NamespaceSelector = webhook.EnsureLabelSelectorExpressions(h.NamespaceSelector, webhook.NamespaceSelector())
	if h.ClientConfig.Service != nil {
		h.ClientConfig.Service.Path = ptr.String(path)
	}
}

func owner(uid types.UID) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "v1", Kind: "Namespace", Name: system.Namespace(), UID: uid}
}

func ownedBy(owners ...metav1.OwnerReference) func(*configuration, *hook) {
	return func(c *configuration, _ *hook) { c.OwnerReferences = owners }
}

func selecting(c *configuration, h *hook) {
	h.NamespaceSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "x", Operator: metav1.LabelSelectorOpExists}}}
	c.Webhooks = append(c.Webhooks, hook{Name: "other.example.com"})
}

func atURL(_ *configuration, h *hook) {
	h.ClientConfig = admissionregistrationv1.WebhookClientConfig{URL: ptr.String("https://gate.example.com/x")}
}

func byNobody(_ *configuration, h *hook) {
	h.ClientConfig = admissionregistrationv1.WebhookClientConfig{}
}

func ours(_ *configuration, h *hook) {
	h.ClientConfig.Service = &admissionregistrationv1.ServiceReference{Namespace: system.Namespace(), Name: hooktest.ServiceName}
}

func TestValidating(t *testing.T) {
	other := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "operator", UID: "o"}
	tests := map[string]struct {
		reason string
		opts   webhook.Options
		have   *configuration
		want   *configuration // nil: nothing is written
	}{
		"Installed":  {"what only we know is filled in", webhook.Options{}, installed(), installed(right)},
		"Right":      {"nothing has changed", webhook.Options{}, installed(right), nil},
		"Selecting":  {"other selectors, and other webhooks, are others' decisions", webhook.Options{}, installed(selecting), installed(selecting, right)},
		"URL":        {"whoever wrote it knows where we are", webhook.Options{}, installed(atURL), installed(atURL, right)},
		"ByNobody":   {"it is our Service then", webhook.Options{}, installed(byNobody), installed(byNobody, ours, right)},
		"OtherOwner": {"it may own it, too", webhook.Options{}, installed(ownedBy(other)), installed(ownedBy(other), right)},
		"OldOwner":   {"a namespace of the same name has gone", webhook.Options{}, installed(ownedBy(owner("gone"))), installed(right)},
		"OwnedAlready": {
			"more about the same owner is no change", webhook.Options{},
			installed(ownedBy(owner(hooktest.NamespaceUID)), func(c *configuration, h *hook) {
				right(c, h)
				c.OwnerReferences = []metav1.OwnerReference{owner(hooktest.NamespaceUID)}
				c.OwnerReferences[0].Controller = ptr.Bool(true)
			}), nil,
		},
		"NotOwned": {
			"the operator says so", webhook.Options{DisableNamespaceOwnership: true},
			installed(), installed(right, ownedBy()),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := hooktest.New(t, tc.opts, tc.have.DeepCopy(), hooktest.Secret())
			impl := validating(cluster)
			cluster.Start(impl)
			cluster.Lead(impl)
			if err := impl.Reconciler.Reconcile(cluster.Ctx, tc.have.Name); err != nil {
				t.Fatal(err)
			}
			var want []runtime.Object
			if tc.want != nil {
				want = []runtime.Object{tc.want}
			}
			if diff := cmp.Diff(want, cluster.Updated()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func validating(c *hooktest.Cluster) *controller.Impl {
	upkeep := registration.NewValidating(c.Ctx, name, path, func(h registration.Hook) { *h.Rules = rules })
	impl := registration.NewImpl(c.Ctx, upkeep, "Test")
	upkeep.Watch(impl)
	return impl
}

func TestNothingToDo(t *testing.T) {
	unfilled := hooktest.Secret()
	unfilled.Data = nil
	foreign := installed(func(_ *configuration, h *hook) { h.Name = "other.example.com" })
	tests := map[string]struct {
		reason  string
		objects []runtime.Object
		follow  bool // another replica leads
		want    func(error) bool
	}{
		"NotInstalled": {"trying again installs nothing", []runtime.Object{hooktest.Secret()}, false, controller.IsPermanentError},
		"NoSecret":     {"nor does it here", []runtime.Object{installed()}, false, controller.IsPermanentError},
		"Unfilled":     {"somebody is about to fill it", []runtime.Object{installed(), unfilled}, false, func(err error) bool { return err == nil }},
		"Follower":     {"the leader alone writes", []runtime.Object{installed(), hooktest.Secret()}, true, controller.IsSkipKey},
		"Foreign":      {"none of the webhooks is ours", []runtime.Object{foreign, hooktest.Secret()}, false, func(err error) bool { return err != nil }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := hooktest.New(t, webhook.Options{}, tc.objects...)
			impl := validating(cluster)
			cluster.Start(impl)
			if !tc.follow {
				cluster.Lead(impl)
			}
			if err := impl.Reconciler.Reconcile(cluster.Ctx, "hook.example.com"); !tc.want(err) {
				t.Errorf("%s: got %v", tc.reason, err)
			}
			if writes := cluster.Writes(); len(writes) != 0 {
				t.Errorf("wrote %v", writes)
			}
		})
	}
}

// TestFollows runs a controller: whatever changes, the configuration follows.
func TestFollows(t *testing.T) {
	cluster := hooktest.New(t, webhook.Options{}, hooktest.Secret(), &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Webhooks:   []admissionregistrationv1.MutatingWebhook{{Name: name}},
	})
	upkeep := registration.NewMutating(cluster.Ctx, name, path, func(h registration.Hook) { *h.Rules = rules })
	impl := registration.NewImpl(cluster.Ctx, upkeep, "Test")
	upkeep.Watch(impl)
	cluster.Run(impl)

	client := cluster.Kube.AdmissionregistrationV1().MutatingWebhookConfigurations()
	bundle := func() string {
		got, err := client.Get(cluster.Ctx, name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return string(got.Webhooks[0].ClientConfig.CABundle)
	}
	cluster.Await(func() bool { return bundle() == hooktest.CABundle })

	secret := hooktest.Secret()
	secret.Data[registration.CABundle] = []byte("renewed")
	if _, err := cluster.Kube.CoreV1().Secrets(secret.Namespace).Update(cluster.Ctx, secret, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	cluster.Await(func() bool { return bundle() == "renewed" })

	spoilt, err := client.Get(cluster.Ctx, name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	spoilt.Webhooks[0].ClientConfig.CABundle = nil
	if _, err := client.Update(context.WithoutCancel(cluster.Ctx), spoilt, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	cluster.Await(func() bool { return bundle() == "renewed" })
}
