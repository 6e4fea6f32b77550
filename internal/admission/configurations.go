// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"weir.dev/pkg/webhook"
	"weir.dev/pkg/webhook/configmaps"
)

// Names and paths of the webhooks.
const (
	defaultingName = "webhook.serving.knative.dev"
	validationName = "validation.webhook.serving.knative.dev"
	configName     = "config.webhook.serving.knative.dev"

	defaultingPath = "/defaulting"
	validationPath = "/resource-validation"
	configPath     = "/config-validation"
)

func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Labels: map[string]string{
		"app.kubernetes.io/component": "webhook",
		"app.kubernetes.io/name":      "knative-serving",
	}}
}

func mutatingConfiguration(t target) *admissionregistrationv1.MutatingWebhookConfiguration {
	return &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: meta(defaultingName),
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name:                    defaultingName,
			ClientConfig:            t.at(defaultingPath),
			Rules:                   kinds().Rules(admissionregistrationv1.Create, admissionregistrationv1.Update),
			FailurePolicy:           ptrTo(admissionregistrationv1.Fail),
			MatchPolicy:             ptrTo(admissionregistrationv1.Equivalent),
			NamespaceSelector:       webhook.NamespaceSelector(),
			ObjectSelector:          &metav1.LabelSelector{},
			SideEffects:             ptrTo(admissionregistrationv1.SideEffectClassNone),
			TimeoutSeconds:          ptrTo(int32(10)),
			AdmissionReviewVersions: []string{"v1"},
			ReinvocationPolicy:      ptrTo(admissionregistrationv1.IfNeededReinvocationPolicy),
		}},
	}
}

func validatingConfiguration(t target) *admissionregistrationv1.ValidatingWebhookConfiguration {
	hook := validatingWebhook(validationName, t.at(validationPath))
	hook.Rules = kinds().Rules(admissionregistrationv1.Create, admissionregistrationv1.Update, admissionregistrationv1.Delete)
	return &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: meta(validationName),
		Webhooks:   []admissionregistrationv1.ValidatingWebhook{hook},
	}
}

func configConfiguration(t target) *admissionregistrationv1.ValidatingWebhookConfiguration {
	hook := validatingWebhook(configName, t.at(configPath))
	hook.Rules = configmaps.Rules()
	hook.ObjectSelector = &metav1.LabelSelector{
		MatchLabels: map[string]string{"app.kubernetes.io/name": "knative-serving"},
		MatchExpressions: []metav1.LabelSelectorRequirement{{
			Key: "app.kubernetes.io/component", Operator: metav1.LabelSelectorOpIn,
			Values: []string{"autoscaler", "controller", "logging", "networking", "observability", "tracing", "net-certmanager"},
		}},
	}
	return &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: meta(configName),
		Webhooks:   []admissionregistrationv1.ValidatingWebhook{hook},
	}
}

func validatingWebhook(name string, client admissionregistrationv1.WebhookClientConfig) admissionregistrationv1.ValidatingWebhook {
	return admissionregistrationv1.ValidatingWebhook{
		Name:                    name,
		ClientConfig:            client,
		FailurePolicy:           ptrTo(admissionregistrationv1.Fail),
		MatchPolicy:             ptrTo(admissionregistrationv1.Equivalent),
		NamespaceSelector:       webhook.NamespaceSelector(),
		ObjectSelector:          &metav1.LabelSelector{},
		SideEffects:             ptrTo(admissionregistrationv1.SideEffectClassNone),
		TimeoutSeconds:          ptrTo(int32(10)),
		AdmissionReviewVersions: []string{"v1"},
	}
}

func ptrTo[T any](v T) *T { return &v }
