// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package surface_test uses everything that the kit offers, as programs do that
// were written for knative.dev/pkg: what compiles and passes here needs another
// import path, and nothing else. Each file is about one package or a few small
// ones; docs/kit-surface.md says where the kit differs on purpose. What a
// package does beyond its contract is tested beside its code.
package surface_test

import (
	"context"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	servingv1 "weir.dev/api/serving/v1"
	_ "weir.dev/pkg/system/testing" // sets SYSTEM_NAMESPACE
)

// patience only detects that nothing will happen.
const patience = 30 * time.Second

// childEnv has the test binary be a program of controllers.
const childEnv = "SURFACE_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		program()
		return
	}
	os.Exit(m.Run())
}

func key(namespace, name string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: name}
}

// service is a Service as it is stored.
func service(name string) *servingv1.Service {
	o := &servingv1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Generation: 1}}
	o.Spec.Template.Spec.Containers = []corev1.Container{{Image: "example.com/image"}}
	o.SetDefaults(context.Background())
	return o
}

// pod carries its kind, as those of manifests do.
func pod(name string) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name},
	}
}

func configMap(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}, Data: data}
}

// await polls until the condition holds.
func await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, patience, true,
		func(context.Context) (bool, error) { return condition(), nil })
	if err != nil {
		t.Fatalf("it never came that %s", what)
	}
}

// panics tells whether f does.
func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}
