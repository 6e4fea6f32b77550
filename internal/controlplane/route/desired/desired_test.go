// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	netv1alpha1 "weir.dev/api/networking/v1alpha1"
	v1 "weir.dev/api/serving/v1"
	"weir.dev/internal/controlplane/config"
	"weir.dev/internal/controlplane/route/hosts"
	"weir.dev/internal/controlplane/route/traffic"
	"weir.dev/pkg/ptr"
)

func route(annotations map[string]string) *v1.Route {
	return &v1.Route{ObjectMeta: metav1.ObjectMeta{
		Name: "app", Namespace: "ns", UID: "uid", Labels: map[string]string{"mine": "yes"}, Annotations: annotations,
	}}
}

func names() map[string]hosts.Names {
	return map[string]hosts.Names{
		"":     {Service: "app", Local: []string{"app.ns", "app.ns.svc"}, External: "app.example.com"},
		"blue": {Tag: "blue", Service: "blue-app", Local: []string{"blue-app.ns"}},
	}
}

func plan() *traffic.Plan {
	return &traffic.Plan{Groups: map[string][]traffic.Target{
		"":     {{RevisionName: "app-1", Percent: 80, Protocol: "http1"}, {RevisionName: "app-2", Percent: 20, Protocol: "h2c"}},
		"blue": {{RevisionName: "app-1", Percent: 100, Tag: "blue", Protocol: "http1"}},
	}}
}

func wantRule(visibility netv1alpha1.IngressVisibility, splits []netv1alpha1.IngressBackendSplit, hosts ...string) netv1alpha1.IngressRule {
	return netv1alpha1.IngressRule{
		Hosts: hosts, Visibility: visibility,
		HTTP: &netv1alpha1.HTTPIngressRuleValue{Paths: []netv1alpha1.HTTPIngressPath{{Splits: splits}}},
	}
}

func wantSplit(revision string, port int32, percent int) netv1alpha1.IngressBackendSplit {
	return netv1alpha1.IngressBackendSplit{
		IngressBackend: netv1alpha1.IngressBackend{ServiceNamespace: "ns", ServiceName: revision, ServicePort: intstr.FromInt32(port)},
		Percent:        percent,
		AppendHeaders:  map[string]string{"Knative-Serving-Revision": revision, "Knative-Serving-Namespace": "ns"},
	}
}

func TestIngress(t *testing.T) {
	got, err := Ingress(route(map[string]string{
		"networking.knative.dev/ingress-class": "other", corev1.LastAppliedConfigAnnotation: "{}", "mine": "too",
	}), config.Default().Network, plan(), names(), nil)
	if err != nil {
		t.Fatal(err)
	}
	main := []netv1alpha1.IngressBackendSplit{wantSplit("app-1", 80, 80), wantSplit("app-2", 81, 20)}
	blue := []netv1alpha1.IngressBackendSplit{wantSplit("app-1", 80, 100)}
	want := &netv1alpha1.Ingress{
		ObjectMeta: metav1.ObjectMeta{
			Name: "app", Namespace: "ns", OwnerReferences: got.OwnerReferences,
			Labels: map[string]string{
				"mine": "yes", "serving.knative.dev/route": "app", "serving.knative.dev/routeNamespace": "ns",
			},
			Annotations: map[string]string{
				"mine": "too", "networking.knative.dev/ingress.class": "other",
				"networking.internal.knative.dev/tag-to-host": `{"blue":["blue-app.ns"]}`,
			},
		},
		Spec: netv1alpha1.IngressSpec{
			HTTPOption: "Enabled",
			Rules: []netv1alpha1.IngressRule{
				wantRule("ClusterLocal", main, "app.ns", "app.ns.svc"),
				wantRule("ExternalIP", main, "app.example.com"),
				wantRule("ClusterLocal", blue, "blue-app.ns"),
			},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if owner := metav1.GetControllerOf(got); owner == nil || owner.UID != "uid" {
		t.Errorf("the Route does not own the Ingress: %v", owner)
	}
}

func TestHTTPOption(t *testing.T) {
	tests := map[string]struct {
		reason      string
		annotations map[string]string
		protocol    config.HTTPProtocol
		want        netv1alpha1.HTTPOption
		wantErr     bool
	}{
		"default":      {reason: "the operator's", protocol: config.HTTPRedirected, want: "Redirected"},
		"off":          {reason: "an option that says nothing", protocol: config.HTTPDisabled},
		"annotation":   {reason: "goes before the operator's", protocol: config.HTTPRedirected, annotations: map[string]string{"networking.knative.dev/httpOption": "Enabled"}, want: "Enabled"},
		"old spelling": {reason: "counts, too", protocol: config.HTTPEnabled, annotations: map[string]string{"networking.knative.dev/http-protocol": "redirected"}, want: "Redirected"},
		"unknown":      {reason: "is an error", protocol: config.HTTPEnabled, annotations: map[string]string{"networking.knative.dev/httpOption": "maybe"}, wantErr: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cfg := *config.Default().Network
			cfg.HTTPProtocol = tc.protocol
			got, err := httpOption(route(tc.annotations), &cfg)
			if got != tc.want || (err != nil) != tc.wantErr {
				t.Errorf("%s: got %q, %v", tc.reason, got, err)
			}
		})
	}
}

// aliased is a k8s Service that is another name for host.
func aliased(host string) corev1.ServiceSpec {
	return corev1.ServiceSpec{
		Type: corev1.ServiceTypeExternalName, ExternalName: host, SessionAffinity: corev1.ServiceAffinityNone,
		Ports: []corev1.ServicePort{{
			Name: "http2", Protocol: "TCP", AppProtocol: ptr.String("kubernetes.io/h2c"), Port: 80, TargetPort: intstr.FromInt32(80),
		}},
	}
}

func TestService(t *testing.T) {
	clusterIP := corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP, ClusterIP: "10.0.0.1", ClusterIPs: []string{"10.0.0.1"}}
	tests := map[string]struct {
		reason   string
		names    hosts.Names
		existing *corev1.Service
		entry    *netv1alpha1.LoadBalancerIngressStatus
		want     corev1.ServiceSpec
		labels   map[string]string
		wantErr  bool
	}{
		"new": {
			reason: "the host outside until the Ingress is ready",
			names:  names()[""],
			want:   aliased("app.example.com"),
		},
		"new, local": {
			reason: "nothing that exists until the Ingress is ready",
			names:  names()["blue"],
			want:   aliased("blue-app.invalid"),
		},
		"ready": {
			reason: "where the Ingress takes requests",
			names:  names()[""],
			entry:  &netv1alpha1.LoadBalancerIngressStatus{DomainInternal: "gw.sys.svc", Domain: "gw.example.com"},
			want:   aliased("gw.sys.svc"),
		},
		"ready, then not": {
			reason:   "what leads somewhere goes on to",
			names:    names()[""],
			existing: &corev1.Service{Spec: aliased("gw.sys.svc")},
			want:     aliased("gw.sys.svc"),
		},
		"from mesh": {
			reason:   "addresses are given back",
			names:    names()[""],
			existing: &corev1.Service{Spec: clusterIP},
			entry:    &netv1alpha1.LoadBalancerIngressStatus{Domain: "gw.example.com"},
			want:     aliased("gw.example.com"),
		},
		"local by label": {
			reason:   "the label is the user's",
			names:    names()["blue"],
			existing: &corev1.Service{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"networking.knative.dev/visibility": "cluster-local", "old": "x"}}, Spec: aliased("x")},
			want:     aliased("x"),
			labels:   map[string]string{"networking.knative.dev/visibility": "cluster-local"},
		},
		"address": {
			reason:  "is not supported yet",
			names:   names()[""],
			entry:   &netv1alpha1.LoadBalancerIngressStatus{IP: "1.2.3.4"},
			wantErr: true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := route(map[string]string{"mine": "too"})
			r.Labels["networking.knative.dev/visibility"] = "cluster-local"
			got, err := Service(r, tc.names, tc.existing, tc.entry)
			if (err != nil) != tc.wantErr {
				t.Fatalf("%s: error %v", tc.reason, err)
			}
			if tc.wantErr {
				return
			}
			if diff := cmp.Diff(tc.want, got.Spec); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			labels := map[string]string{"mine": "yes", "serving.knative.dev/route": "app"}
			for k, v := range tc.labels {
				labels[k] = v
			}
			if diff := cmp.Diff(labels, got.Labels); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEntry(t *testing.T) {
	at := func(domains ...string) *netv1alpha1.LoadBalancerStatus {
		s := &netv1alpha1.LoadBalancerStatus{}
		for _, d := range domains {
			s.Ingress = append(s.Ingress, netv1alpha1.LoadBalancerIngressStatus{Domain: d})
		}
		return s
	}
	tests := map[string]struct {
		status netv1alpha1.IngressStatus
		want   string
	}{
		"private first": {netv1alpha1.IngressStatus{PrivateLoadBalancer: at("in"), PublicLoadBalancer: at("out")}, "in"},
		"public only":   {netv1alpha1.IngressStatus{PrivateLoadBalancer: at(), PublicLoadBalancer: at("out")}, "out"},
		"none":          {netv1alpha1.IngressStatus{}, ""},
		"more than one": {netv1alpha1.IngressStatus{PrivateLoadBalancer: at("a", "b")}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Entry(&tc.status)
			if (err != nil) != (tc.want == "") || (got != nil && got.Domain != tc.want) {
				t.Errorf("Entry() = %v, %v; want %q", got, err, tc.want)
			}
		})
	}
}
