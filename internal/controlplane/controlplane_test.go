// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"net"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/test/bufconn"
	"k8s.io/client-go/rest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	_ "weir.dev/client/injection/informers/autoscaling/v1alpha1/podautoscaler/fake"
	_ "weir.dev/client/injection/informers/networking/v1alpha1/ingress/fake"
	_ "weir.dev/client/injection/informers/serving/v1/configuration/fake"
	_ "weir.dev/client/injection/informers/serving/v1/revision/fake"
	_ "weir.dev/client/injection/informers/serving/v1/route/fake"
	_ "weir.dev/client/injection/informers/serving/v1/service/fake"
	manifests "weir.dev/config"
	"weir.dev/internal/controlplane/revision"
	_ "weir.dev/pkg/client/injection/kube/informers/apps/v1/deployment/fake"
	_ "weir.dev/pkg/client/injection/kube/informers/core/v1/pod/filtered/fake"
	_ "weir.dev/pkg/client/injection/kube/informers/core/v1/service/fake"
	_ "weir.dev/pkg/client/injection/kube/informers/discovery/v1/endpointslice/fake"
	"weir.dev/pkg/client/injection/kube/informers/factory/filtered"
	"weir.dev/pkg/configmap"
	"weir.dev/pkg/injection"
	rtesting "weir.dev/pkg/reconciler/testing"
	"weir.dev/pkg/system"
)

// installed returns the ConfigMaps that an installation has.
func installed(t *testing.T) configmap.Watcher {
	t.Helper()
	names, err := manifests.ConfigMapNames()
	if err != nil {
		t.Fatal(err)
	}
	var maps []*corev1.ConfigMap
	for _, name := range names {
		maps = append(maps, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: DefaultNamespace, Name: name}})
	}
	return configmap.NewStaticWatcher(maps...)
}

// TestWatches holds the list of what the controller watches: each costs the API server and our memory, so a new one is a
// decision.
func TestWatches(t *testing.T) {
	cp, err := New(Config{RESTConfig: &rest.Config{Host: "http://127.0.0.1:1"}, FeedListener: bufconn.Listen(1)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, _ := rtesting.SetupFakeContext(t)
	ctx = filtered.WithSelectors(system.WithNamespace(ctx, DefaultNamespace), revision.PodSelector)
	var queues []string
	for _, ctor := range cp.constructors() {
		impl, err := injection.Construct(ctx, ctor, installed(t))
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(queues, impl.Name) {
			t.Errorf("two controllers are called %q: they would share a lease", impl.Name)
		}
		queues = append(queues, impl.Name)
	}
	const ours, kube = "weir.dev/client/injection/informers/", "weir.dev/pkg/client/injection/kube/informers/"
	want := []string{
		ours + "autoscaling/v1alpha1/podautoscaler",
		ours + "networking/v1alpha1/ingress",
		ours + "serving/v1/configuration",
		ours + "serving/v1/revision",
		ours + "serving/v1/route",
		ours + "serving/v1/service",
		kube + "apps/v1/deployment",
		kube + "core/v1/pod/filtered",
		kube + "core/v1/service",
		kube + "discovery/v1/endpointslice",
	}
	if diff := cmp.Diff(want, injection.Watches(ctx)); diff != "" {
		t.Errorf("watches (-want +got):\n%s", diff)
	}
}

func TestConfig(t *testing.T) {
	listener := bufconn.Listen(1)
	api := &rest.Config{Host: "http://127.0.0.1:1"}
	for name, cfg := range map[string]Config{
		"no API server":             {FeedListener: listener},
		"no feed":                   {RESTConfig: api},
		"admission without address": {RESTConfig: api, FeedListener: listener, Admission: &Admission{CertDir: t.TempDir()}},
		"admission without store":   {RESTConfig: api, FeedListener: listener, Admission: &Admission{Listener: net.Listener(listener)}},
	} {
		if _, err := New(cfg); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
