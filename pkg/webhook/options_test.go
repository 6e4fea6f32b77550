// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"weir.dev/pkg/injection"
	"weir.dev/pkg/webhook"
)

func TestOptions(t *testing.T) {
	if got := webhook.GetOptions(context.Background()); got != nil {
		t.Errorf("a context has no options of its own: %+v", got)
	}
	ctx := webhook.WithOptions(context.Background(), webhook.Options{ServiceName: "a"})
	webhook.GetOptions(ctx).ServiceName = "b"
	if got := webhook.GetOptions(ctx).ServiceName; got != "a" {
		t.Errorf("who asks gets a copy: %s", got)
	}
	got := webhook.RequireOptions(ctx)
	if got.ServerPrivateKeyName != "server-key.pem" || got.ServerCertificateName != "server-cert.pem" || got.GracePeriod != 45*time.Second || got.DisableNamespaceOwnership {
		t.Errorf("defaults: %+v", got)
	}
}

func TestRequireOptionsPanics(t *testing.T) {
	defer func() {
		err, _ := recover().(error)
		if dependency := (*injection.DependencyError)(nil); !errors.As(err, &dependency) {
			t.Errorf("want an error that injection.Construct returns, got %v", err)
		}
	}()
	webhook.RequireOptions(context.Background())
}

func TestOwnershipByEnvironment(t *testing.T) {
	for value, want := range map[string]bool{"": false, "false": false, "0": false, "true": true, "yes": true} {
		t.Setenv("WEBHOOK_DISABLE_NAMESPACE_OWNERSHIP", value)
		ctx := webhook.WithOptions(context.Background(), webhook.Options{})
		if got := webhook.RequireOptions(ctx).DisableNamespaceOwnership; got != want {
			t.Errorf("%q: got %v", value, got)
		}
	}
}

func TestEnvironment(t *testing.T) {
	name := func() any { return webhook.NameFromEnv() }
	port := func() any { return webhook.PortFromEnv(8443) }
	secret := func() any { return webhook.SecretNameFromEnv("certs") }
	tests := map[string]struct {
		reason string
		key    string
		value  string
		read   func() any
		want   any // nil: it panics
	}{
		"Name":          {"it is what it says", "WEBHOOK_NAME", "hook", name, "hook"},
		"NoName":        {"nobody can guess it", "WEBHOOK_NAME", "", name, nil},
		"Port":          {"it is what it says", "WEBHOOK_PORT", "443", port, 443},
		"NoPort":        {"the caller's counts", "WEBHOOK_PORT", "", port, 8443},
		"PortZero":      {"no caller would find it", "WEBHOOK_PORT", "0", port, nil},
		"PortTooHigh":   {"there is none", "WEBHOOK_PORT", "65536", port, nil},
		"PortNotNumber": {"this is none", "WEBHOOK_PORT", "https", port, nil},
		"Secret":        {"it is what it says", "WEBHOOK_SECRET_NAME", "other", secret, "other"},
		"NoSecret":      {"the caller's counts", "WEBHOOK_SECRET_NAME", "", secret, "certs"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv(tc.key, tc.value)
			defer func() {
				if r := recover(); (r != nil) != (tc.want == nil) {
					t.Errorf("%s: panic: %v", tc.reason, r)
				}
			}()
			if got := tc.read(); got != tc.want {
				t.Errorf("%s: got %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}

func TestEnsureLabelSelectorExpressions(t *testing.T) {
	expression := func(key string, operator metav1.LabelSelectorOperator, values ...string) metav1.LabelSelectorRequirement {
		return metav1.LabelSelectorRequirement{Key: key, Operator: operator, Values: values}
	}
	want := webhook.NamespaceSelector()
	exclude := want.MatchExpressions[0]
	other, another := expression("a", metav1.LabelSelectorOpExists), expression("b", metav1.LabelSelectorOpIn, "x")
	tests := map[string]struct {
		reason  string
		current *metav1.LabelSelector
		want    *metav1.LabelSelector
	}{
		"None":  {"all that is wanted", nil, want},
		"Empty": {"the same", &metav1.LabelSelector{}, want},
		"Right": {"nothing changes", want, want},
		"Others": {
			"they are somebody's decision",
			&metav1.LabelSelector{MatchLabels: map[string]string{"x": "y"}, MatchExpressions: []metav1.LabelSelectorRequirement{other}},
			&metav1.LabelSelector{MatchLabels: map[string]string{"x": "y"}, MatchExpressions: []metav1.LabelSelectorRequirement{other, exclude}},
		},
		"Wrong": {
			"ours are replaced where they stand",
			&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				other, expression(webhook.ExcludeLabel, metav1.LabelSelectorOpExists), another, exclude,
			}},
			&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{other, exclude, another}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before := tc.current.DeepCopy()
			got := webhook.EnsureLabelSelectorExpressions(tc.current, want)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(before, tc.current); diff != "" {
				t.Errorf("an object of a cache was changed:\n%s", diff)
			}
		})
	}
}
