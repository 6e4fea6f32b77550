// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
)

// target is how the API server reaches the webhooks.
type target struct {
	url      string // without a path; empty with a service
	service  *admissionregistrationv1.ServiceReference
	caBundle []byte
}

// targetOf returns the target and the host names that it is called by.
func targetOf(cfg Config) (target, []string, error) {
	if s := cfg.Service; s != nil {
		return target{service: s}, []string{
			s.Name + "." + s.Namespace + ".svc", s.Name + "." + s.Namespace, s.Name,
		}, nil
	}
	base := cfg.URL
	if base == "" {
		base = "https://" + cfg.Listener.Addr().String()
	}
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" {
		return target{}, nil, fmt.Errorf("admission: %q is no https URL with a host", base)
	}
	hosts := []string{u.Hostname()}
	if ip := net.ParseIP(u.Hostname()); ip != nil && ip.IsLoopback() {
		hosts = append(hosts, "localhost")
	}
	return target{url: strings.TrimSuffix(base, "/")}, hosts, nil
}

func (t target) at(path string) admissionregistrationv1.WebhookClientConfig {
	c := admissionregistrationv1.WebhookClientConfig{CABundle: t.caBundle}
	if t.service != nil {
		service := *t.service
		service.Path = &path
		c.Service = &service
		return c
	}
	full := t.url + path
	c.URL = &full
	return c
}

// register creates or updates the webhook configurations.
func (a *Admission) register(ctx context.Context) error {
	api := a.cfg.Client.AdmissionregistrationV1()
	mutating := api.MutatingWebhookConfigurations()
	if err := apply(ctx, mutating, mutatingConfiguration(a.target), func(have, want *admissionregistrationv1.MutatingWebhookConfiguration) bool {
		same := equality.Semantic.DeepEqual(have.Webhooks, want.Webhooks)
		have.Webhooks = want.Webhooks
		return same
	}); err != nil {
		return err
	}
	validating := api.ValidatingWebhookConfigurations()
	for _, want := range []*admissionregistrationv1.ValidatingWebhookConfiguration{
		validatingConfiguration(a.target), configConfiguration(a.target),
	} {
		if err := apply(ctx, validating, want, func(have, want *admissionregistrationv1.ValidatingWebhookConfiguration) bool {
			same := equality.Semantic.DeepEqual(have.Webhooks, want.Webhooks)
			have.Webhooks = want.Webhooks
			return same
		}); err != nil {
			return err
		}
	}
	return nil
}

// configurations is the part of a typed client that apply needs.
type configurations[T any] interface {
	Get(ctx context.Context, name string, opts metav1.GetOptions) (*T, error)
	Create(ctx context.Context, obj *T, opts metav1.CreateOptions) (*T, error)
	Update(ctx context.Context, obj *T, opts metav1.UpdateOptions) (*T, error)
}

// apply creates a configuration, or updates it if it says something else.
// merge writes what is wanted into what is there and says whether it was the
// same.
func apply[T any, P interface {
	*T
	metav1.Object
}](ctx context.Context, client configurations[T], want *T, merge func(have, want *T) bool) error {
	name := P(want).GetName()
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		have, err := client.Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			_, err = client.Create(ctx, want, metav1.CreateOptions{})
			return err
		}
		if err != nil {
			return err
		}
		if merge(have, want) {
			return nil
		}
		_, err = client.Update(ctx, have, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("webhook configuration %s: %w", name, err)
	}
	return nil
}
