// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package failures

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection"
)

// settings hears of a ConfigMap's value, as the store of a controller would.
type settings struct{ got chan string }

func newSettings() settings { return settings{got: make(chan string, 100)} }

// wrap makes a constructor watch the ConfigMap besides.
func (s settings) wrap(ctor injection.ControllerConstructor) injection.ControllerConstructor {
	return func(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
		cmw.(configmap.DefaultingWatcher).WatchWithDefault(corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}},
			func(cm *corev1.ConfigMap) { s.got <- cm.Data["value"] })
		return ctor(ctx, cmw)
	}
}

// await waits for that value.
func (s settings) await(ctx context.Context, t *testing.T, want string) {
	t.Helper()
	for got := ""; got != want; {
		got = receive(ctx, t, s.got, "the setting "+want)
	}
}

// set is what an operator does.
func (settings) set(ctx context.Context, t *testing.T, cfg *rest.Config, namespace, value string) {
	t.Helper()
	kube, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"value": value}}
	_, err = kube.CoreV1().ConfigMaps(namespace).Create(ctx, cm, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		_, err = kube.CoreV1().ConfigMaps(namespace).Update(ctx, cm, metav1.UpdateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}
