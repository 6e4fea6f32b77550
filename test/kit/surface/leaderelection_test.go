// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package surface_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"

	"weir.dev/pkg/hash"
	"weir.dev/pkg/leaderelection"
	"weir.dev/pkg/reconciler"
)

var _ func(context.Context, kubernetes.Interface, leaderelection.ComponentConfig) context.Context = leaderelection.WithDynamicLeaderElectorBuilder

func ignore(reconciler.Bucket, types.NamespacedName) {}

func TestLeaderElectionConfig(t *testing.T) {
	config, err := leaderelection.NewConfigFromConfigMap(configMap("config-leader-election", map[string]string{
		"buckets": "3", "lease-duration": "15s", "renew-deadline": "10s", "retry-period": "2s", "map-lease-prefix.component.queue": "mapped",
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := leaderelection.ComponentConfig{
		Component: "component", Buckets: 3, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		LeaseName: nil, Identity: "", LeaseNamesPrefixMapping: map[string]string{"component.queue": "mapped"},
	}
	if d := cmp.Diff(want, config.GetComponentConfig("component")); d != "" {
		t.Errorf("configuration (-want +got):\n%s", d)
	}
	for buckets, ok := range map[string]bool{"1": true, "10": true, "0": false, "11": false} {
		if _, err := leaderelection.NewConfigFromConfigMap(configMap("config", map[string]string{"buckets": buckets})); (err == nil) != ok {
			t.Errorf("%s buckets: %v", buckets, err)
		}
	}
}

// lead runs an elector of ctx until it leads, and returns its buckets.
func lead(ctx context.Context, t *testing.T, buckets int) []string {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	promoted, ended := make(chan string), make(chan struct{})
	elector, err := leaderelection.BuildElector(ctx, &reconciler.LeaderAwareFuncs{
		PromoteFunc: func(b reconciler.Bucket, _ func(reconciler.Bucket, types.NamespacedName)) error {
			promoted <- b.Name()
			return nil
		},
	}, "Some.Queue", ignore)
	if err != nil {
		t.Fatal(err)
	}
	go func() { defer close(ended); elector.Run(ctx) }()
	var names []string
	for range buckets {
		names = append(names, <-promoted)
	}
	cancel()
	<-ended
	return names
}

// TestLeases: one lease a bucket, whose name and holder say whose it is.
func TestLeases(t *testing.T) {
	for name, with := range map[string]func(context.Context, kubernetes.Interface, leaderelection.ComponentConfig) context.Context{
		"Standard": leaderelection.WithStandardLeaderElectorBuilder, "Dynamic": leaderelection.WithDynamicLeaderElectorBuilder,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				config, err := leaderelection.NewConfigFromConfigMap(configMap("config", map[string]string{"buckets": "2"}))
				if err != nil {
					t.Fatal(err)
				}
				kube := fake.NewClientset()
				ctx := with(t.Context(), kube, config.GetComponentConfig("Component"))
				if !leaderelection.HasLeaderElection(ctx) {
					t.Error("the context has leader election")
				}
				lead(ctx, t, 2)
				leases, err := kube.CoordinationV1().Leases("knative-testing").List(ctx, metav1.ListOptions{})
				if err != nil {
					t.Fatal(err)
				}
				var names []string
				for _, lease := range leases.Items {
					names = append(names, lease.Name)
				}
				if d := cmp.Diff([]string{"component.some.queue.00-of-02", "component.some.queue.01-of-02"}, names); d != "" {
					t.Errorf("leases (-want +got):\n%s", d)
				}
			})
		})
	}
}

// TestIdentity: a replica is <hostname>_<uuid> in its lease.
func TestIdentity(t *testing.T) {
	config, err := leaderelection.NewConfigFromConfigMap(nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	kube := fake.NewClientset()
	ctx = leaderelection.WithStandardLeaderElectorBuilder(ctx, kube, config.GetComponentConfig("component"))
	elector, err := leaderelection.BuildElector(ctx, &reconciler.LeaderAwareFuncs{}, "queue", ignore)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); elector.Run(ctx) }()
	host, _ := os.Hostname()
	await(t, "the lease is held", func() bool {
		lease, err := kube.CoordinationV1().Leases("knative-testing").Get(ctx, "component.queue.00-of-01", metav1.GetOptions{})
		return err == nil && lease.Spec.HolderIdentity != nil && strings.HasPrefix(*lease.Spec.HolderIdentity, host+"_")
	})
	cancel()
	<-ended
}

// TestAlwaysLeading: without a builder, and as the pod of a StatefulSet.
func TestAlwaysLeading(t *testing.T) {
	if leaderelection.HasLeaderElection(t.Context()) {
		t.Error("a context has none by itself")
	}
	if d := cmp.Diff([]string{reconciler.UniversalBucket().Name()}, lead(t.Context(), t, 1)); d != "" {
		t.Errorf("buckets (-want +got):\n%s", d)
	}
	own := hash.NewBucketSet(sets.New("zero", "one")).Buckets()[0]
	ctx := leaderelection.WithStatefulSetElectorBuilder(t.Context(), leaderelection.ComponentConfig{Buckets: 2}, own)
	if d := cmp.Diff([]string{own.Name()}, lead(ctx, t, 1)); d != "" {
		t.Errorf("buckets of a pod (-want +got):\n%s", d)
	}
	t.Setenv("STATEFUL_CONTROLLER_ORDINAL", "controller-1")
	t.Setenv("STATEFUL_SERVICE_NAME", "controllers")
	ctx = leaderelection.WithDynamicLeaderElectorBuilder(t.Context(), nil, leaderelection.ComponentConfig{Component: "component", Buckets: 2})
	got := lead(ctx, t, 1)[0]
	if !strings.HasPrefix(got, "http://controller-1.controllers.knative-testing.svc.") || !strings.HasSuffix(got, ":80") {
		t.Errorf("the bucket of an ordinal is %s", got)
	}
	t.Setenv("STATEFUL_SERVICE_PORT", "8080")
	t.Setenv("STATEFUL_SERVICE_PROTOCOL", "ws")
	ctx = leaderelection.WithDynamicLeaderElectorBuilder(t.Context(), nil, leaderelection.ComponentConfig{Component: "component", Buckets: 2})
	if got := lead(ctx, t, 1)[0]; !strings.HasPrefix(got, "ws://") || !strings.HasSuffix(got, ":8080") {
		t.Errorf("the bucket of an ordinal is %s", got)
	}
}

func TestHash(t *testing.T) {
	names := sets.New[string]()
	for i := range 10 {
		names.Insert(fmt.Sprintf("member-%d", i))
	}
	subset := hash.ChooseSubset(names, 3, "key")
	if len(subset) != 3 || !names.IsSuperset(subset) || !subset.Equal(hash.ChooseSubset(names, 3, "key")) {
		t.Errorf("the subset is %v, and the same again", subset)
	}
	if got := hash.ChooseSubset(names, 20, "key"); !got.Equal(names) {
		t.Errorf("there are no more than %v", got)
	}
	set := hash.NewBucketSet(names)
	owner := set.Owner("ns/name")
	for _, bucket := range set.Buckets() {
		var b reconciler.Bucket = bucket
		if b.Has(key("ns", "name")) != (b.Name() == owner) {
			t.Errorf("the key is %s's, and %s disagrees", owner, b.Name())
		}
	}
}
