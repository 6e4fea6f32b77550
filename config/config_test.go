// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"weir.dev/config"
)

func TestObjects(t *testing.T) {
	rbac, err := config.RBAC()
	if err != nil {
		t.Fatal(err)
	}
	maps, err := config.ConfigMaps()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range append(rbac, maps...) {
		if o.GetKind() == "" || o.GetName() == "" || o.GetLabels()["app.kubernetes.io/name"] != "knative-serving" {
			t.Errorf("%s %q lacks a kind, a name or its label", o.GetKind(), o.GetName())
		}
	}
	names, err := config.ConfigMapNames()
	if err != nil || !slices.Contains(names, "config-network") || len(names) != len(maps) {
		t.Errorf("ConfigMapNames() = %v, %v", names, err)
	}
}

func TestLeastPrivilege(t *testing.T) {
	rbac, err := config.RBAC()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range rbac {
		for _, rule := range rules(t, o) {
			for _, list := range [][]string{rule.APIGroups, rule.Resources, rule.Verbs} {
				if len(list) == 0 || slices.Contains(list, "*") {
					t.Errorf("%s %q: a rule names all or nothing: %v", o.GetKind(), o.GetName(), rule)
				}
			}
			if slices.Contains(rule.Resources, "secrets") && o.GetKind() == "ClusterRole" && !slices.Equal(rule.Verbs, []string{"get"}) {
				t.Errorf("secrets of users are read by name only: %v", rule)
			}
		}
	}
}

func rules(t *testing.T, o *unstructured.Unstructured) []rbacv1.PolicyRule {
	t.Helper()
	role := &rbacv1.Role{}
	if o.GetKind() != "Role" && o.GetKind() != "ClusterRole" {
		return nil
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, role); err != nil {
		t.Fatalf("%s %q: %v", o.GetKind(), o.GetName(), err)
	}
	return role.Rules
}
