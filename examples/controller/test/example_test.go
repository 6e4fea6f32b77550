// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package test

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"weir.dev/examples/controller/pkg/apis/samples/v1alpha1"
	"weir.dev/test/harness"
)

const (
	system = "samples-system"
	// limit is a hang detector.
	limit = 2 * time.Minute
)

func newContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}

func newNamespace(ctx context.Context, t *testing.T) string {
	t.Helper()
	ns, err := kube.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "samples-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := kube.CoreV1().Namespaces().Delete(context.WithoutCancel(ctx), ns.Name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	return ns.Name
}

func eventually(ctx context.Context, t *testing.T, what string, done func(context.Context) (bool, error)) {
	t.Helper()
	if err := harness.Eventually(ctx, what, done); err != nil {
		t.Fatal(err)
	}
}

// awaitWebhooks waits until the webhooks have registered themselves: from then
// on what is wrong is refused.
func awaitWebhooks(ctx context.Context, t *testing.T) {
	t.Helper()
	eventually(ctx, t, "the webhooks refuse what is wrong", func(ctx context.Context) (bool, error) {
		_, err := client.SamplesV1alpha1().AddressableServices("default").Create(ctx, &v1alpha1.AddressableService{
			ObjectMeta: metav1.ObjectMeta{Name: "wrong"},
		}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		cm := config("")
		_, cmErr := kube.CoreV1().ConfigMaps(system).Update(ctx, cm, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsBadRequest(err) && apierrors.IsBadRequest(cmErr), nil
	})
}

func config(domain string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: "config-samples", Labels: map[string]string{"samples.weir.dev/config": "true"}},
		Data:       map[string]string{"domain": domain},
	}
}

// TestWebhooks: what is left out is filled in, what is wrong is refused with
// its path.
func TestWebhooks(t *testing.T) {
	ctx := newContext(t)
	awaitWebhooks(ctx, t)
	ns := newNamespace(ctx, t)
	ours := client.SamplesV1alpha1().AddressableServices(ns)

	made, err := ours.Create(ctx, addressable("good"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if made.Spec.Scheme != "http" || made.Annotations["samples.weir.dev/creator"] == "" {
		t.Errorf("defaults are scheme %q and annotations %v", made.Spec.Scheme, made.Annotations)
	}
	bad := addressable("bad")
	bad.Spec = v1alpha1.AddressableServiceSpec{Scheme: "gopher"}
	_, err = ours.Create(ctx, bad, metav1.CreateOptions{})
	for _, want := range []string{"missing field(s): spec.serviceName", "invalid value: gopher: spec.scheme"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Create: %v, want %q", err, want)
		}
	}
	_, err = kube.CoreV1().ConfigMaps(system).Update(ctx, config(""), metav1.UpdateOptions{})
	if err == nil || !strings.Contains(err.Error(), "domain: must not be empty") {
		t.Errorf("Update of the ConfigMap: %v, want it refused", err)
	}
}

func addressable(name string) *v1alpha1.AddressableService {
	return &v1alpha1.AddressableService{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       v1alpha1.AddressableServiceSpec{ServiceName: "web"},
	}
}

// TestLife goes with one object from its creation to its end.
func TestLife(t *testing.T) {
	ctx := newContext(t)
	awaitWebhooks(ctx, t)
	ns := newNamespace(ctx, t)
	ours := client.SamplesV1alpha1().AddressableServices(ns)
	if _, err := ours.Create(ctx, addressable("it"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	await := func(what string, is func(*v1alpha1.AddressableService) bool) {
		t.Helper()
		eventually(ctx, t, what, func(ctx context.Context) (bool, error) {
			a, err := ours.Get(ctx, "it", metav1.GetOptions{})
			return err == nil && is(a), err
		})
	}
	await("it says that there is no such Service", func(a *v1alpha1.AddressableService) bool {
		c := a.Status.GetCondition(v1alpha1.ConditionReady)
		return c.IsFalse() && c.Reason == "NotFound" && a.Status.ObservedGeneration == a.Generation
	})

	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
	}
	if _, err := kube.CoreV1().Services(ns).Create(ctx, service, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	want := "http://web." + ns + ".svc.cluster.local"
	await("it has the Service's address", func(a *v1alpha1.AddressableService) bool {
		return a.Status.GetCondition(v1alpha1.ConditionReady).IsTrue() && a.Status.Address.URL.String() == want
	})
	if got := listed(ctx, t, ns); got != want {
		t.Errorf("the directory has %q, want %q", got, want)
	}

	if err := ours.Delete(ctx, "it", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(ctx, t, "it is gone", func(ctx context.Context) (bool, error) {
		_, err := ours.Get(ctx, "it", metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
	if got := listed(ctx, t, ns); got != "" {
		t.Errorf("the directory still has %q", got)
	}
}

// listed is the address that the directory has of the object.
func listed(ctx context.Context, t *testing.T, ns string) string {
	t.Helper()
	cm, err := kube.CoreV1().ConfigMaps(system).Get(ctx, "addresses", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return cm.Data[ns+".it"]
}
