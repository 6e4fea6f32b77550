// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"weir.dev/pkg/ptr"
)

// settings makes a ConfigMap and a Secret, both of that name, both with the keys key and other.
func (s *space) settings(name string) {
	s.t.Helper()
	core := s.Kube.CoreV1()
	meta := metav1.ObjectMeta{Name: name}
	_, err := core.ConfigMaps(s.ns).Create(s.ctx, &corev1.ConfigMap{
		ObjectMeta: meta, Data: map[string]string{"key": "plain", "other": "plain too"},
	}, metav1.CreateOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	_, err = core.Secrets(s.ns).Create(s.ctx, &corev1.Secret{
		ObjectMeta: meta, StringData: map[string]string{"key": "hidden", "other": "hidden too"},
	}, metav1.CreateOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
}

// Variables come from ConfigMaps and Secrets, by key and as a whole.
func TestRuntimeVariables(t *testing.T) {
	s := parallelSpace(t)
	s.settings("settings")
	ref, absent := corev1.LocalObjectReference{Name: "settings"}, corev1.LocalObjectReference{Name: "absent"}
	plain := func(ref corev1.LocalObjectReference, key string, optional *bool) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: ref, Key: key, Optional: optional}}
	}
	hidden := func(ref corev1.LocalObjectReference, key string, optional *bool) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: ref, Key: key, Optional: optional}}
	}
	yes := ptr.Bool(true)
	env := s.info(s.run(container(func(c *corev1.Container) {
		c.Env = []corev1.EnvVar{
			{Name: "PLAIN", ValueFrom: plain(ref, "key", nil)},
			{Name: "HIDDEN", ValueFrom: hidden(ref, "key", nil)},
			{Name: "BOTH", Value: "$(PLAIN) and $(HIDDEN), not $$(PLAIN)"},
			{Name: "NO_OBJECT", ValueFrom: plain(absent, "key", yes)},
			{Name: "NO_KEY", ValueFrom: hidden(ref, "absent", yes)},
			{Name: "FROM_other", Value: "the nearer one wins"},
		}
		c.EnvFrom = []corev1.EnvFromSource{
			{Prefix: "FROM_", ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: ref}},
			{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: ref}},
			{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: absent, Optional: yes}},
		}
	}))).Env
	for name, want := range map[string]string{
		"PLAIN": "plain", "HIDDEN": "hidden", "BOTH": "plain and hidden, not $(PLAIN)", "FROM_key": "plain",
		"FROM_other": "the nearer one wins", "key": "hidden", "other": "hidden too",
	} {
		if env[name] != want {
			t.Errorf("%s=%q, want %q", name, env[name], want)
		}
	}
	for name := range env { // enableServiceLinks is false by default
		if strings.HasSuffix(name, "_SERVICE_HOST") && name != "KUBERNETES_SERVICE_HOST" {
			t.Errorf("%s tells of a Service that nobody asked for", name)
		}
	}
	for _, name := range []string{"NO_OBJECT", "NO_KEY"} {
		if value, ok := env[name]; ok {
			t.Errorf("%s=%q, want it left out: what it comes from is optional and not there", name, value)
		}
	}
}
