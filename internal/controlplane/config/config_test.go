// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"weir.dev/pkg/configmap"
	logtesting "weir.dev/pkg/logging/testing"
)

func cm(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}
}

func TestNewNetwork(t *testing.T) {
	with := func(change func(*Network)) *Network {
		n := defaultNetwork()
		change(n)
		return n
	}
	tests := map[string]struct {
		reason  string
		data    map[string]string
		want    *Network
		wantErr bool
	}{
		"empty": {
			reason: "every key has a default",
			want:   defaultNetwork(),
		},
		"all": {
			reason: "keys of parts we do not have are accepted",
			data: map[string]string{
				"ingress-class": "foreign", "http-protocol": "Redirected", "rollout-duration": "30",
				"external-http-port": "8080", "autocreate-cluster-domain-claims": "true", "mesh-compatibility-mode": "auto",
			},
			want: with(func(n *Network) {
				n.IngressClass, n.HTTPProtocol, n.RolloutDuration = "foreign", HTTPRedirected, 30*time.Second
				n.ExternalHTTPPort, n.AutocreateClusterDomainClaims = 8080, true
			}),
		},
		"both spellings": {
			reason: "the present spelling wins",
			data:   map[string]string{"ingress.class": "old", "ingress-class": "new"},
			want:   with(func(n *Network) { n.IngressClass = "new" }),
		},
		"negative rollout":      {reason: "time goes forward", data: map[string]string{"rollout-duration": "-1"}, wantErr: true},
		"unknown http-protocol": {reason: "no guess", data: map[string]string{"http-protocol": "maybe"}, wantErr: true},
		"port out of range":     {reason: "no such port", data: map[string]string{"external-http-port": "70000"}, wantErr: true},
		"template with a path":  {reason: "a host has none", data: map[string]string{"domain-template": "{{.Name}}/x"}, wantErr: true},
		"unknown field":         {reason: "found before a Route meets it", data: map[string]string{"domain-template": "{{.Foo}}"}, wantErr: true},
		"tag with a dot":        {reason: "a tag names one label", data: map[string]string{"tag-template": "{{.Tag}}.{{.Name}}"}, wantErr: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := NewNetwork(cm(NetworkName, tc.data))
			if (err != nil) != tc.wantErr {
				t.Fatalf("%s: error %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreUnexported(Network{})); !tc.wantErr && diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestNetworkNames(t *testing.T) {
	n, err := NewNetwork(cm(NetworkName, map[string]string{
		"domain-template": `{{.Name}}-{{.Namespace}}.{{index .Labels "zone"}}.{{.Domain}}`, "external-http-port": "8080",
	}))
	if err != nil {
		t.Fatal(err)
	}
	host, err := n.Host(DomainValues{Name: "a", Namespace: "b", Domain: "c.d", Labels: map[string]string{"zone": "z"}})
	if host != "a-b.z.c.d" || err != nil {
		t.Errorf("Host = %q, %v", host, err)
	}
	for tag, want := range map[string]string{"": "svc", "blue": "blue-svc"} {
		if got, err := n.TagName(tag, "svc"); got != want || err != nil {
			t.Errorf("TagName(%q) = %q, %v", tag, got, err)
		}
	}
	if got := n.ExternalAuthority("http", "h"); got != "h:8080" {
		t.Errorf("ExternalAuthority(http) = %q", got)
	}
	if got := n.ExternalAuthority("https", "h"); got != "h" {
		t.Errorf("ExternalAuthority(https) = %q", got)
	}
}

func TestDomainLookup(t *testing.T) {
	selective := map[string]string{
		"example.com":      "",
		"a-default.com":    "",
		"example.org":      "selector:\n  app: nonprofit",
		"both.example.org": "selector:\n  app: nonprofit\n  tier: gold\ntype: wildcard",
		"_example":         "not: [a domain",
	}
	tests := map[string]struct {
		reason string
		data   map[string]string
		labels map[string]string
		want   string
	}{
		"no labels":    {reason: "first of the entries without selector", data: selective, want: "a-default.com"},
		"one label":    {reason: "a selector beats none", data: selective, labels: map[string]string{"app": "nonprofit"}, want: "example.org"},
		"two labels":   {reason: "the longest selector wins", data: selective, labels: map[string]string{"app": "nonprofit", "tier": "gold"}, want: "both.example.org"},
		"partial":      {reason: "all labels of a selector must match", data: selective, labels: map[string]string{"tier": "gold"}, want: "a-default.com"},
		"empty config": {reason: "only in-cluster names are known to work", want: ClusterLocalDomain()},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d, err := NewDomain(cm(DomainName, tc.data))
			if err != nil {
				t.Fatal(err)
			}
			if got := d.Lookup(tc.labels); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
	if _, err := NewDomain(cm(DomainName, map[string]string{"x.com": "selector: ["})); err == nil {
		t.Error("malformed YAML was accepted")
	}
}

func TestNewDeployment(t *testing.T) {
	d, err := NewDeployment(cm(DeploymentName, map[string]string{
		"registries-skipping-tag-resolving": "reg.example",
		"progress-deadline":                 "30s",
		"pod-is-always-schedulable":         "true",
		"queue-sidecar-image":               "ignored",
		"runtime-class-name":                "gvisor: {}\nkata:\n  selector:\n    safe: very\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	if d.ProgressDeadline != 30*time.Second || !d.PodIsAlwaysSchedulable {
		t.Errorf("got %+v", d)
	}
	if !d.RegistriesSkippingTagResolving.HasAll("reg.example", "weir.local", "dev.local") {
		t.Errorf("local registries are skipped whatever is configured: got %v", d.RegistriesSkippingTagResolving)
	}
	if got := d.RuntimeClassName(nil); got == nil || *got != "gvisor" {
		t.Errorf("RuntimeClassName() = %v", got)
	}
	if got := d.RuntimeClassName(map[string]string{"safe": "very"}); got == nil || *got != "kata" {
		t.Errorf("RuntimeClassName(safe) = %v", got)
	}
	for name, data := range map[string]map[string]string{
		"fractional deadline": {"progress-deadline": "1.5s"},
		"no deadline":         {"progress-deadline": "0s"},
		"no timeout":          {"digest-resolution-timeout": "0s"},
		"unknown affinity":    {"default-affinity-type": "together"},
		"bad classes":         {"runtime-class-name": "["},
	} {
		if _, err := NewDeployment(cm(DeploymentName, data)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestNewGC(t *testing.T) {
	got, err := NewGC(cm(GCName, map[string]string{
		"retain-since-create-time": "disabled", "min-non-active-revisions": "2", "max-non-active-revisions": "Disabled",
	}))
	want := &GC{
		RetainSinceCreateTime: Disabled, RetainSinceLastActiveTime: 15 * time.Hour,
		MinNonActiveRevisions: 2, MaxNonActiveRevisions: Disabled,
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	for name, data := range map[string]map[string]string{
		"negative age": {"retain-since-create-time": "-1h"},
		"min over max": {"min-non-active-revisions": "5", "max-non-active-revisions": "4"},
		"negative min": {"min-non-active-revisions": "-1"},
		"not a number": {"max-non-active-revisions": "many"},
	} {
		if _, err := NewGC(cm(GCName, data)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestStore(t *testing.T) {
	store := NewStore(logtesting.TestLogger(t), []string{NetworkName, AutoscalerName})
	store.WatchConfigs(configmap.NewStaticWatcher(
		cm(NetworkName, map[string]string{"ingress-class": "x"}),
		cm(AutoscalerName, map[string]string{"initial-scale": "3"}),
	))
	got := FromContext(store.ToContext(context.Background()))
	if got.Network.IngressClass != "x" || got.Autoscaler.InitialScale != 3 {
		t.Errorf("watched parts are not as configured: %+v %+v", got.Network, got.Autoscaler)
	}
	if got.GC == nil || got.Deployment == nil || FromContext(context.Background()).Domain == nil {
		t.Error("parts that are not watched have no defaults")
	}
	store.OnConfigChanged(cm(NetworkName, map[string]string{"ingress-class": "y", "external-domain-tls": "maybe"}))
	store.OnConfigChanged(cm(NetworkName, map[string]string{"http-protocol": "nonsense"}))
	if got := store.Load().Network.IngressClass; got != "y" {
		t.Errorf("rubbish under another key is for admission to refuse, a bad change keeps the good value: %q", got)
	}
}
