// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package injection_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	kubeclient "weir.dev/pkg/client/injection/kube/client"
	fakekubeclient "weir.dev/pkg/client/injection/kube/client/fake"
	nodeinformer "weir.dev/pkg/client/injection/kube/informers/core/v1/node"
	podinformer "weir.dev/pkg/client/injection/kube/informers/core/v1/pod"
	secretinformer "weir.dev/pkg/client/injection/kube/informers/core/v1/secret/filtered"
	_ "weir.dev/pkg/client/injection/kube/informers/core/v1/secret/filtered/fake"
	svcinformer "weir.dev/pkg/client/injection/kube/informers/core/v1/service"
	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection"
)

// TestStartsWhatIsAskedFor: the pod informer is linked, too, but nobody asks
// for it, so nothing of pods is listed or watched.
func TestStartsWhatIsAskedFor(t *testing.T) {
	ctx, informers := injection.Fake.SetupInformers(t.Context(), &rest.Config{})
	svcinformer.Get(ctx)
	secretinformer.Get(ctx, "a=b")
	secretinformer.Get(ctx, "a=b")
	if err := controller.StartInformers(ctx.Done(), informers...); err != nil {
		t.Fatalf("StartInformers: %v", err)
	}
	want := []string{
		"weir.dev/pkg/client/injection/kube/informers/core/v1/secret/filtered",
		"weir.dev/pkg/client/injection/kube/informers/core/v1/service",
	}
	if d := cmp.Diff(want, injection.Watches(ctx)); d != "" {
		t.Errorf("Watches (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"secrets a=b", "services"}, listed(ctx)); d != "" {
		t.Errorf("lists (-want +got):\n%s", d)
	}
}

// listed is what was asked of the fake API server.
func listed(ctx context.Context) []string {
	seen := map[string]bool{}
	for _, action := range fakekubeclient.Get(ctx).Actions() {
		if list, ok := action.(interface{ GetListRestrictions() restrictions }); ok && action.GetVerb() == "list" {
			seen[strings.TrimSpace(action.GetResource().Resource+" "+list.GetListRestrictions().Labels.String())] = true
		}
	}
	return sorted(seen)
}

// TestLateInformer: an informer that is asked for while its set runs is
// started at once.
func TestLateInformer(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ctx, informers := injection.Fake.SetupInformers(ctx, &rest.Config{})
	wait, err := controller.RunInformers(ctx.Done(), informers...)
	if err != nil {
		t.Fatalf("RunInformers: %v", err)
	}
	informer := podinformer.Get(ctx).Informer()
	defer func() {
		if unsynced := injection.Unsynced(ctx); len(unsynced) != 0 {
			t.Errorf("%v count as not filled", unsynced)
		}
	}()
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		t.Error("the late informer did not sync")
	}
	cancel()
	wait()
	if !informer.IsStopped() {
		t.Error("the informer runs on after its set has ended")
	}
}

// TestWith: a client that the context holds is what informers use.
func TestWith(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "pod", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}},
	}}
	ctx, client := fakekubeclient.With(t.Context(), pod)
	ctx, informers := injection.Fake.SetupInformers(ctx, &rest.Config{})
	if got := fakekubeclient.Get(ctx); got != client {
		t.Error("Get gives another client than With made")
	}
	lister := podinformer.Get(ctx).Lister()
	if err := controller.StartInformers(ctx.Done(), informers...); err != nil {
		t.Fatalf("StartInformers: %v", err)
	}
	got, err := lister.Pods("ns").Get("pod")
	if err != nil {
		t.Fatalf("Get: %v", err)
	}
	if got.ManagedFields != nil {
		t.Error("the cache keeps managed fields, which nobody reads")
	}
}

// TestFetchAllClients gives the fake clients that are linked.
func TestFetchAllClients(t *testing.T) {
	ctx, _ := injection.Fake.SetupInformers(t.Context(), &rest.Config{})
	clients := injection.Fake.FetchAllClients(ctx)
	if len(clients) != 1 || clients[0] != any(fakekubeclient.Get(ctx)) {
		t.Errorf("FetchAllClients = %v", clients)
	}
}

// TestTwoSets: two sets in one process share nothing.
func TestTwoSets(t *testing.T) {
	t.Run("", func(t *testing.T) {
		for range 2 {
			t.Run("set", func(t *testing.T) { t.Parallel(); TestSeedShape(t) })
		}
	})
	one, _ := injection.Fake.SetupInformers(t.Context(), &rest.Config{})
	two, _ := injection.Fake.SetupInformers(t.Context(), &rest.Config{})
	if svcinformer.Get(one) == svcinformer.Get(two) || kubeclient.Get(one) == kubeclient.Get(two) {
		t.Error("two sets share a dependency")
	}
	if svcinformer.Get(one) != svcinformer.Get(one) {
		t.Error("a set makes a dependency twice")
	}
}

func asksForNodes(ctx context.Context, _ configmap.Watcher) *controller.Impl {
	nodeinformer.Get(ctx)
	return nil
}

// TestMissing: what is missing is named, with who asked for it.
func TestMissing(t *testing.T) {
	fake, _ := injection.Fake.SetupInformers(t.Context(), &rest.Config{})
	tests := map[string]struct {
		reason string
		ctx    context.Context
		want   []string
	}{
		"NotLinked": {
			reason: "the error says what to import",
			ctx:    fake,
			want: []string{
				"injection_test.asksForNodes", // who asked
				"weir.dev/pkg/client/injection/kube/informers/core/v1/node",
				`import "weir.dev/pkg/client/injection/kube/informers/core/v1/node/fake"`,
			},
		},
		"NoSet": {
			reason: "the error says how to make a set",
			ctx:    t.Context(),
			want:   []string{"asksForNodes", "core/v1/node", "SetupInformers"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := injection.Construct(tc.ctx, asksForNodes, configmap.NewStaticWatcher())
			var dependency *injection.DependencyError
			if !errors.As(err, &dependency) {
				t.Fatalf("Construct() = %v, want a DependencyError", err)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %q does not contain %q", tc.reason, err, want)
				}
			}
		})
	}
}

// TestMissingBelow: an accessor whose own need is missing names both.
func TestMissingBelow(t *testing.T) {
	ctx, _ := injection.Default.SetupInformers(t.Context(), nil)
	_, err := injection.Construct(ctx, asksForNodes, configmap.NewStaticWatcher())
	for _, want := range []string{"core/v1/node", "informers/factory", "kube/client", "no client configuration"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not contain %q", err, want)
		}
	}
}

func TestUnthrottled(t *testing.T) {
	cfg := &rest.Config{}
	ctx, _ := injection.Fake.SetupInformers(t.Context(), cfg)
	if got := injection.GetConfig(ctx).QPS; got != -1 {
		t.Errorf("QPS = %v, want -1: unset means unlimited", got)
	}
	if cfg.QPS != 0 {
		t.Error("the caller's configuration was changed")
	}
	ctx, _ = injection.Fake.SetupInformers(t.Context(), &rest.Config{QPS: 7})
	if got := injection.GetConfig(ctx).QPS; got != 7 {
		t.Errorf("QPS = %v, want 7 as set", got)
	}
}
