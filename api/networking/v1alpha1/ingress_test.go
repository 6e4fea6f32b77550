// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"weir.dev/pkg/apis"
	duckv1 "weir.dev/pkg/apis/duck/v1"
	"weir.dev/pkg/kmeta"
)

var (
	_ apis.Defaultable   = (*Ingress)(nil)
	_ apis.Validatable   = (*Ingress)(nil)
	_ kmeta.OwnerRefable = (*Ingress)(nil)
	_ duckv1.KRShaped    = (*Ingress)(nil)
)

func split(percent int) IngressBackendSplit {
	return IngressBackendSplit{
		IngressBackend: IngressBackend{ServiceName: "r", ServicePort: intstr.FromInt32(80)}, Percent: percent,
	}
}

func ingress(splits ...IngressBackendSplit) *Ingress {
	return &Ingress{
		ObjectMeta: metav1.ObjectMeta{Name: "i", Namespace: "ns"},
		Spec: IngressSpec{Rules: []IngressRule{{
			Hosts: []string{"h"}, HTTP: &HTTPIngressRuleValue{Paths: []HTTPIngressPath{{Splits: splits}}},
		}}},
	}
}

func TestIngressValidation(t *testing.T) {
	tests := map[string]struct {
		reason  string
		ingress *Ingress
		change  func(*Ingress)
		want    string
	}{
		"single split":  {"it has everything", ingress(split(0)), func(*Ingress) {}, ""},
		"two splits":    {"they share", ingress(split(20), split(80)), func(*Ingress) {}, ""},
		"no rules":      {"it leads nowhere", &Ingress{}, func(*Ingress) {}, "missing field(s): spec.rules"},
		"no http":       {"nor does this", ingress(), func(i *Ingress) { i.Spec.Rules[0].HTTP = nil }, "missing field(s): spec.rules[0].http"},
		"no paths":      {"nor this", ingress(), func(i *Ingress) { i.Spec.Rules[0].HTTP.Paths = nil }, "missing field(s): spec.rules[0].http.paths"},
		"no splits":     {"nor this", ingress(), func(*Ingress) {}, "missing field(s): spec.rules[0].http.paths[0].splits"},
		"sum":           {"all requests go somewhere", ingress(split(20), split(70)), func(*Ingress) {}, "traffic split percentage must total to 100, but was 90: spec.rules[0].http.paths[0].splits"},
		"namespace":     {"its own", ingress(split(0)), func(i *Ingress) { i.Spec.Rules[0].HTTP.Paths[0].Splits[0].ServiceNamespace = "x" }, "service namespace must match ingress namespace: spec.rules[0].http.paths[0].splits[0].serviceNamespace"},
		"backend":       {"complete", ingress(IngressBackendSplit{}), func(*Ingress) {}, "missing field(s): spec.rules[0].http.paths[0].splits[0].serviceName, spec.rules[0].http.paths[0].splits[0].servicePort"},
		"tls":           {"a certificate is somewhere", ingress(split(0)), func(i *Ingress) { i.Spec.TLS = []IngressTLS{{SecretNamespace: "s"}} }, "missing field(s): spec.tls[0].secretName"},
		"negative":      {"no share", ingress(split(-1), split(101)), func(*Ingress) {}, "invalid value: -1: spec.rules[0].http.paths[0].splits[0].percent\ninvalid value: 101: spec.rules[0].http.paths[0].splits[1].percent"},
		"port by name":  {"ports have names", ingress(split(0)), func(i *Ingress) { i.Spec.Rules[0].HTTP.Paths[0].Splits[0].ServicePort = intstr.FromString("http2") }, ""},
		"visibility":    {"public by default", ingress(split(0)), func(i *Ingress) { i.Spec.HTTPOption = HTTPOptionRedirected }, ""},
		"status update": {"a status has its own rules", &Ingress{}, nil, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			if tc.change == nil {
				ctx = apis.WithinSubResourceUpdate(ctx, &Ingress{}, "status")
			} else {
				tc.change(tc.ingress)
			}
			tc.ingress.SetDefaults(ctx)
			if diff := cmp.Diff(tc.want, tc.ingress.Validate(ctx).Error()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestIngressConditions(t *testing.T) {
	i := &Ingress{}
	i.Status.InitializeConditions()
	i.Status.MarkLoadBalancerNotReady()
	if c := i.Status.GetCondition(IngressConditionReady); c.Reason != "Uninitialized" || i.IsReady() {
		t.Errorf("got %+v", c)
	}
	i.Status.MarkNetworkConfigured()
	i.Status.MarkLoadBalancerReady([]LoadBalancerIngressStatus{{IP: "1.2.3.4"}}, []LoadBalancerIngressStatus{{DomainInternal: "d"}})
	if !i.IsReady() || i.Status.PrivateLoadBalancer.Ingress[0].DomainInternal != "d" {
		t.Errorf("got %+v", i.Status)
	}
	i.Status.MarkNetworkNotConfigured("Waiting", "for %s")
	if c := i.Status.GetCondition(IngressConditionReady); !c.IsUnknown() || c.Message != "for %s" {
		t.Errorf("got %+v", c)
	}
	i.Status.MarkLoadBalancerFailed("Broken", "b")
	if !i.IsFailed() {
		t.Error("want failed")
	}
}
