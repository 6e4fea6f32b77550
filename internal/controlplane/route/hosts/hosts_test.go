// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package hosts

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	v1 "weir.dev/api/serving/v1"
	"weir.dev/internal/controlplane/config"
)

func cfg(t *testing.T, network, domain map[string]string) *config.Config {
	t.Helper()
	c := config.Default()
	var err error
	if c.Network, err = config.NewNetwork(&corev1.ConfigMap{Data: network}); err != nil {
		t.Fatal(err)
	}
	if c.Domain, err = config.NewDomain(&corev1.ConfigMap{Data: domain}); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestGroup(t *testing.T) {
	public := map[string]string{"example.com": ""}
	tests := map[string]struct {
		reason    string
		network   map[string]string
		domain    map[string]string
		labels    map[string]string
		tag       string
		localTags sets.Set[string]
		want      Names
		wantURL   string
		wantErr   bool
	}{
		"main": {
			reason:  "the usual names",
			domain:  public,
			want:    Names{Service: "app", External: "app.ns.example.com", Local: []string{"app.ns", "app.ns.svc", "app.ns.svc.cluster.local"}},
			wantURL: "http://app.ns.example.com",
		},
		"port": {
			reason:  "URLs carry a port that the scheme does not imply, hosts never do",
			network: map[string]string{"external-http-port": "8080"},
			domain:  public,
			want:    Names{Service: "app", External: "app.ns.example.com", Local: []string{"app.ns", "app.ns.svc", "app.ns.svc.cluster.local"}},
			wantURL: "http://app.ns.example.com:8080",
		},
		"tag": {
			reason: "a tag's name contains the tag",
			domain: public,
			tag:    "blue",
			want: Names{
				Tag: "blue", Service: "blue-app", External: "blue-app.ns.example.com",
				Local: []string{"blue-app.ns", "blue-app.ns.svc", "blue-app.ns.svc.cluster.local"},
			},
			wantURL: "http://blue-app.ns.example.com",
		},
		"local tag": {
			reason:    "its user keeps it inside",
			domain:    public,
			tag:       "blue",
			localTags: sets.New("blue"),
			want:      Names{Tag: "blue", Service: "blue-app", Local: []string{"blue-app.ns", "blue-app.ns.svc", "blue-app.ns.svc.cluster.local"}},
			wantURL:   "http://blue-app.ns.svc.cluster.local",
		},
		"local route": {
			reason:  "its user keeps it inside",
			network: map[string]string{"external-http-port": "8080"},
			domain:  public,
			labels:  map[string]string{"networking.knative.dev/visibility": "cluster-local"},
			want:    Names{Service: "app", Local: []string{"app.ns", "app.ns.svc", "app.ns.svc.cluster.local"}},
			wantURL: "http://app.ns.svc.cluster.local",
		},
		"no domain": {
			reason:  "without a domain there is no outside",
			want:    Names{Service: "app", Local: []string{"app.ns", "app.ns.svc", "app.ns.svc.cluster.local"}},
			wantURL: "http://app.ns.svc.cluster.local",
		},
		"bad host": {
			reason:  "the operator's template makes no host name of this Route",
			network: map[string]string{"domain-template": "{{.Name}}.{{.Namespace}}.{{index .Labels \"zone\"}}.{{.Domain}}"},
			domain:  public,
			labels:  map[string]string{"zone": "no_host"},
			wantErr: true,
		},
		"long tag": {
			reason:  "a k8s Service has at most 63 characters",
			domain:  public,
			tag:     "a1234567890123456789012345678901234567890123456789012345678901",
			wantErr: true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			route := &v1.Route{ObjectMeta: metav1.ObjectMeta{Name: "app", Namespace: "ns", Labels: tc.labels}}
			namer := New(cfg(t, tc.network, tc.domain), route, tc.localTags)
			got, err := namer.Group(tc.tag)
			if (err != nil) != tc.wantErr {
				t.Fatalf("%s: error %v", tc.reason, err)
			}
			if tc.wantErr {
				return
			}
			if got.URL.String() != tc.wantURL {
				t.Errorf("%s: URL %q, want %q", tc.reason, got.URL, tc.wantURL)
			}
			got.URL = nil
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if got := namer.Address().String(); got != "http://app.ns.svc.cluster.local" {
				t.Errorf("Address() = %q", got)
			}
		})
	}
}
