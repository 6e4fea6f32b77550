// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package secret_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	fakeclient "weir.dev/pkg/client/injection/kube/client/fake"
	everywhere "weir.dev/pkg/client/injection/kube/informers/core/v1/secret"
	_ "weir.dev/pkg/client/injection/kube/informers/core/v1/secret/fake" // the one of all namespaces
	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection"
	"weir.dev/pkg/injection/clients/namespacedkube/informers/core/v1/secret"
	_ "weir.dev/pkg/injection/clients/namespacedkube/informers/core/v1/secret/fake" // the informer
	"weir.dev/pkg/system"
)

func object(namespace string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "certificates"}}
}

// TestNamespace: the informer sees the set's system namespace alone, whatever
// the scope of the other informers of the set.
func TestNamespace(t *testing.T) {
	tests := map[string]struct {
		reason         string
		scope          string
		wantEverywhere []string
	}{
		"All":    {"other informers see every namespace", "", []string{"another", "mine"}},
		"Scoped": {"other informers see their scope", "another", []string{"another"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			ctx := injection.WithNamespaceScope(system.WithNamespace(t.Context(), "mine"), tc.scope)
			ctx, _ = fakeclient.With(ctx, object("mine"), object("another"))
			ctx, informers := injection.Fake.SetupInformers(ctx, nil)
			namespaced, all := secret.Get(ctx), everywhere.Get(ctx)
			start(ctx, t, informers)

			if d := cmp.Diff([]string{"mine"}, seen(t, namespaced.Lister().List)); d != "" {
				t.Errorf("%s; the informer's namespaces (-want +got):\n%s", tc.reason, d)
			}
			got := seen(t, all.Lister().List)
			if d := cmp.Diff(tc.wantEverywhere, got); d != "" {
				t.Errorf("%s; the others' namespaces (-want +got):\n%s", tc.reason, d)
			}
		})
	}
}

// start runs the informers until the test ends.
func start(ctx context.Context, t *testing.T, informers []controller.Informer) {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	wait, err := controller.RunInformers(ctx.Done(), informers...)
	if err != nil {
		t.Fatalf("RunInformers: %v", err)
	}
	t.Cleanup(func() { cancel(); wait() })
}

func seen(t *testing.T, list func(labels.Selector) ([]*corev1.Secret, error)) []string {
	t.Helper()
	objects, err := list(labels.Everything())
	if err != nil {
		t.Fatalf("List: %v", err)
	}
	namespaces := make([]string, 0, len(objects))
	for _, o := range objects {
		namespaces = append(namespaces, o.Namespace)
	}
	slices.Sort(namespaces)
	return namespaces
}
