// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// objects is a Source with one of each, named "known".
type objects struct{}

func (objects) ConfigMap(_ context.Context, _, name string) (*corev1.ConfigMap, error) {
	if name != "known" {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, name)
	}
	return &corev1.ConfigMap{Data: map[string]string{"KEY": "from map", "not a name": "x"}}, nil
}

func (objects) Secret(_ context.Context, _, name string) (*corev1.Secret, error) {
	if name != "known" {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, name)
	}
	return &corev1.Secret{Data: map[string][]byte{"KEY": []byte("from secret")}}, nil
}

func TestResolve(t *testing.T) {
	yes := true
	local := func(name string) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: name} }
	mapKey := func(name, key string, optional *bool) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: local(name), Key: key, Optional: optional}}
	}
	cases := map[string]struct {
		reason    string
		container corev1.Container
		image     []string
		want      map[string]string
		absent    []string
		wantErr   string
	}{
		"layers": {
			reason:    "the container's own variables win over the image's",
			container: corev1.Container{Env: []corev1.EnvVar{{Name: "A", Value: "mine"}}},
			image:     []string{"A=image", "B=image", "PATH=/image"},
			want:      map[string]string{"A": "mine", "B": "image", "PATH": "/image", "HOSTNAME": "host"},
		},
		"references": {
			reason: "$(NAME) sees what was declared before, and services; others stay",
			container: corev1.Container{Env: []corev1.EnvVar{
				{Name: "A", Value: "1"}, {Name: "B", Value: "$(A)/$$(A)/$(NO)/$(KUBERNETES_SERVICE_HOST)/$"},
			}},
			want: map[string]string{"B": "1/$(A)/$(NO)/10.96.0.1/$"},
		},
		"envFrom": {
			reason: "whole objects, with a prefix, without what is no name",
			container: corev1.Container{EnvFrom: []corev1.EnvFromSource{
				{Prefix: "M_", ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: local("known")}},
				{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: local("known")}},
				{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: local("unknown"), Optional: &yes}},
			}},
			want:   map[string]string{"M_KEY": "from map", "KEY": "from secret"},
			absent: []string{"M_not a name"},
		},
		"missing object": {
			reason:    "a start must wait for what is not optional",
			container: corev1.Container{Env: []corev1.EnvVar{{Name: "A", ValueFrom: mapKey("unknown", "KEY", nil)}}},
			wantErr:   `configmaps "unknown" not found`,
		},
		"missing key": {
			reason:    "the message names the key",
			container: corev1.Container{Env: []corev1.EnvVar{{Name: "A", ValueFrom: mapKey("known", "NO", nil)}}},
			wantErr:   "couldn't find key NO in ConfigMap ns/known",
		},
		"optional": {
			reason:    "an optional value that is missing leaves the variable out",
			container: corev1.Container{Env: []corev1.EnvVar{{Name: "A", ValueFrom: mapKey("known", "NO", &yes)}}},
			absent:    []string{"A"},
		},
		"fields": {
			reason: "the pod's address is known when the container starts",
			container: corev1.Container{
				Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1500m")}},
				Env: []corev1.EnvVar{
					{Name: "IP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}},
					{Name: "APP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels['app']"}}},
					{Name: "CPU", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu"}}},
					{Name: "MEM", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{
						Resource: "limits.memory", Divisor: resource.MustParse("1Mi")}}},
				},
			},
			want: map[string]string{"IP": "10.1.2.3", "APP": "shop", "CPU": "2", "MEM": "2048"},
		},
		"services": {
			reason: "the API server's address is always there, also without links",
			want: map[string]string{"KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_SERVICE_PORT_HTTPS": "443",
				"KUBERNETES_PORT_443_TCP": "tcp://10.96.0.1:443"},
			absent: []string{"OTHER_SERVICE_HOST"},
		},
	}
	no := false
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "pod", Labels: map[string]string{"app": "shop"}},
				Spec:       corev1.PodSpec{EnableServiceLinks: &no},
				Status:     corev1.PodStatus{PodIP: "10.1.2.3"},
			}
			got, err := Resolve(t.Context(), objects{}, Request{
				Pod: pod, Container: &c.container, Image: c.image, Hostname: "host",
				Services: VisibleServices(pod, services()),
				Node:     corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("2Gi")},
			})
			if c.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), c.wantErr) {
					t.Errorf("%s: error %v, want %q", c.reason, err, c.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", c.reason, err)
			}
			for key, want := range c.want {
				if diff := cmp.Diff(want, got.values[key]); diff != "" {
					t.Errorf("%s: %s (-want +got):\n%s", c.reason, key, diff)
				}
			}
			for _, key := range c.absent {
				if value, there := got.values[key]; there {
					t.Errorf("%s: %s is set to %q", c.reason, key, value)
				}
			}
		})
	}
}

func services() []*corev1.Service {
	return []*corev1.Service{
		{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "kubernetes"},
			Spec: corev1.ServiceSpec{ClusterIP: "10.96.0.1", Ports: []corev1.ServicePort{{Name: "https", Port: 443}}}},
		{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "other"},
			Spec: corev1.ServiceSpec{ClusterIP: "10.96.0.9", Ports: []corev1.ServicePort{{Port: 80}}}},
	}
}

func TestServiceLinks(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns"}}
	if got := VisibleServices(pod, services()); len(got) != 2 {
		t.Errorf("a pod that does not decline sees %d services, want 2", len(got))
	}
}

func FuzzExpand(f *testing.F) {
	f.Add("$(A) $$(A) $( $")
	f.Fuzz(func(t *testing.T, text string) {
		if !strings.Contains(text, "$") && expand(text, nil) != text {
			t.Errorf("changed %q", text)
		}
	})
}
