// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"context"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	kubeclient "weir.dev/pkg/client/injection/kube/client"
	"weir.dev/pkg/client/injection/kube/informers/admissionregistration/v1/mutatingwebhookconfiguration"
	"weir.dev/pkg/client/injection/kube/informers/admissionregistration/v1/validatingwebhookconfiguration"
	"weir.dev/pkg/system"
	"weir.dev/pkg/webhook"
)

// Kinds of webhook configurations, and their upkeep.
type (
	// MutatingConfiguration registers a webhook that changes objects.
	MutatingConfiguration = admissionregistrationv1.MutatingWebhookConfiguration
	// ValidatingConfiguration registers one that refuses objects.
	ValidatingConfiguration = admissionregistrationv1.ValidatingWebhookConfiguration
	// Mutating is the upkeep of a MutatingConfiguration.
	Mutating = Upkeep[*MutatingConfiguration]
	// Validating is the upkeep of a ValidatingConfiguration.
	Validating = Upkeep[*ValidatingConfiguration]
)

// Hook is a webhook of either kind of configuration.
type Hook struct {
	// Rules say what requests are asked about.
	Rules *[]admissionregistrationv1.RuleWithOperations
	// NamespaceSelector and ObjectSelector narrow them.
	NamespaceSelector, ObjectSelector **metav1.LabelSelector

	name   string
	client *admissionregistrationv1.WebhookClientConfig
}

// NewMutating returns the upkeep of the MutatingWebhookConfiguration of that
// name, whose webhook is served at path. rules may change the webhook further
// than what all have in common.
func NewMutating(ctx context.Context, name, path string, rules func(Hook)) *Mutating {
	informer, s := mutatingwebhookconfiguration.Get(ctx), settingsOf(ctx, name, path, rules)
	return New(ctx, Config[*MutatingConfiguration]{
		Names: []string{name}, Informer: informer.Informer(), Get: informer.Lister().Get,
		Update: s.kube.AdmissionregistrationV1().MutatingWebhookConfigurations().Update,
		Complete: func(ctx context.Context, obj *MutatingConfiguration, caBundle []byte) error {
			hooks := make([]Hook, 0, len(obj.Webhooks))
			for i := range obj.Webhooks {
				h := &obj.Webhooks[i]
				hooks = append(hooks, Hook{&h.Rules, &h.NamespaceSelector, &h.ObjectSelector, h.Name, &h.ClientConfig})
			}
			return s.complete(ctx, obj, hooks, caBundle)
		},
	})
}

// NewValidating is NewMutating for a ValidatingWebhookConfiguration.
func NewValidating(ctx context.Context, name, path string, rules func(Hook)) *Validating {
	informer, s := validatingwebhookconfiguration.Get(ctx), settingsOf(ctx, name, path, rules)
	return New(ctx, Config[*ValidatingConfiguration]{
		Names: []string{name}, Informer: informer.Informer(), Get: informer.Lister().Get,
		Update: s.kube.AdmissionregistrationV1().ValidatingWebhookConfigurations().Update,
		Complete: func(ctx context.Context, obj *ValidatingConfiguration, caBundle []byte) error {
			hooks := make([]Hook, 0, len(obj.Webhooks))
			for i := range obj.Webhooks {
				h := &obj.Webhooks[i]
				hooks = append(hooks, Hook{&h.Rules, &h.NamespaceSelector, &h.ObjectSelector, h.Name, &h.ClientConfig})
			}
			return s.complete(ctx, obj, hooks, caBundle)
		},
	})
}

// settings are what the upkeep of a configuration goes by.
type settings struct {
	name, path string
	rules      func(Hook)
	namespace  string
	options    webhook.Options
	kube       kubernetes.Interface
}

func settingsOf(ctx context.Context, name, path string, rules func(Hook)) settings {
	return settings{
		name: name, path: path, rules: rules, namespace: system.NamespaceOf(ctx),
		options: webhook.RequireOptions(ctx), kube: kubeclient.Get(ctx),
	}
}

// complete changes a configuration and its webhook, which has the same name;
// other webhooks of the configuration are somebody else's.
func (s settings) complete(ctx context.Context, obj metav1.Object, hooks []Hook, caBundle []byte) error {
	if !s.options.DisableNamespaceOwnership {
		if err := s.own(ctx, obj); err != nil {
			return err
		}
	}
	found := false
	for _, hook := range hooks {
		if hook.name != s.name {
			continue
		}
		found = true
		*hook.NamespaceSelector = webhook.EnsureLabelSelectorExpressions(*hook.NamespaceSelector, webhook.NamespaceSelector())
		s.reach(hook.client, caBundle)
		s.rules(hook)
	}
	if !found {
		return fmt.Errorf("the configuration has no webhook %q", s.name)
	}
	return nil
}

// own makes the system namespace an owner, so that the configuration goes with
// it: nobody would answer.
func (s settings) own(ctx context.Context, obj metav1.Object) error {
	namespace, err := s.kube.CoreV1().Namespaces().Get(ctx, s.namespace, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read the namespace that is to own it: %w", err)
	}
	obj.SetOwnerReferences(owners(obj.GetOwnerReferences(), metav1.OwnerReference{
		APIVersion: "v1", Kind: "Namespace", Name: namespace.Name, UID: namespace.UID,
	}))
	return nil
}

// owners returns the owners with one more, unless it is one; it replaces those
// of its name, which are gone.
func owners(have []metav1.OwnerReference, owner metav1.OwnerReference) []metav1.OwnerReference {
	var out []metav1.OwnerReference
	for _, o := range have {
		switch {
		case o.UID == owner.UID:
			return have
		case o.Kind != owner.Kind || o.Name != owner.Name:
			out = append(out, o)
		}
	}
	return append(out, owner)
}

// reach says how the API server reaches the webhook. A URL in place of a
// Service was put there on purpose.
func (s settings) reach(client *admissionregistrationv1.WebhookClientConfig, caBundle []byte) {
	client.CABundle = caBundle
	if client.URL != nil {
		return
	}
	if client.Service == nil {
		client.Service = &admissionregistrationv1.ServiceReference{Namespace: s.namespace, Name: s.options.ServiceName}
	}
	client.Service.Path = &s.path
}
