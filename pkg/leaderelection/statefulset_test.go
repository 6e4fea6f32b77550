// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package leaderelection

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"

	"weir.dev/pkg/network"
	"weir.dev/pkg/reconciler"
	"weir.dev/pkg/system"
)

// setenv sets the variables; the others are unset.
func setenv(t *testing.T, env map[string]string) {
	t.Helper()
	t.Setenv(system.NamespaceEnvKey, "system")
	for _, key := range []string{OrdinalEnvKey, ServiceNameEnvKey, ServicePortEnvKey, ServiceProtocolEnvKey} {
		t.Setenv(key, env[key])
	}
}

func TestStatefulSetBuckets(t *testing.T) {
	domain := network.GetClusterDomainName()
	tests := map[string]struct {
		reason  string
		env     map[string]string
		buckets int
		want    string
		wantAll []string
		wantErr string
	}{
		"PodName": {
			reason: "a pod's name ends in its ordinal", buckets: 2,
			env:     map[string]string{OrdinalEnvKey: "ctl-a-1", ServiceNameEnvKey: "svc"},
			want:    "http://ctl-a-1.svc.system.svc." + domain + ":80",
			wantAll: []string{"http://ctl-a-0.svc.system.svc." + domain + ":80", "http://ctl-a-1.svc.system.svc." + domain + ":80"},
		},
		"Index": {
			reason: "the label of the index has the ordinal alone", buckets: 1,
			env:     map[string]string{OrdinalEnvKey: "0", ServiceNameEnvKey: "ctl", ServicePortEnvKey: "8080", ServiceProtocolEnvKey: "ws"},
			want:    "ws://ctl-0.ctl.system.svc." + domain + ":8080",
			wantAll: []string{"ws://ctl-0.ctl.system.svc." + domain + ":8080"},
		},
		"NoOrdinal": {"who is it", map[string]string{ServiceNameEnvKey: "svc"}, 1, "", nil, OrdinalEnvKey},
		"NoNumber":  {"who is it", map[string]string{OrdinalEnvKey: "ctl-x", ServiceNameEnvKey: "svc"}, 1, "", nil, `"ctl-x" does not end in an ordinal`},
		"TooMany":   {"its keys would have two leaders", map[string]string{OrdinalEnvKey: "ctl-2", ServiceNameEnvKey: "svc"}, 2, "", nil, "ordinal 2"},
		"NoService": {"pods have no names without", map[string]string{OrdinalEnvKey: "ctl-0"}, 1, "", nil, ServiceNameEnvKey},
		"BadPort":   {"nobody listens there", map[string]string{OrdinalEnvKey: "ctl-0", ServiceNameEnvKey: "svc", ServicePortEnvKey: "0"}, 1, "", nil, ServicePortEnvKey},
		"NoBuckets": {"somebody must lead", map[string]string{OrdinalEnvKey: "ctl-0", ServiceNameEnvKey: "svc"}, 0, "", nil, "buckets"},
		"Buckets":   {"as many as with leases", map[string]string{OrdinalEnvKey: "ctl-0", ServiceNameEnvKey: "svc"}, 11, "", nil, "buckets"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			setenv(t, tc.env)
			bucket, all, err := NewStatefulSetBucketAndSet(tc.buckets)
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Fatalf("%s: error is %v, want one about %s", tc.reason, err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatalf("NewStatefulSetBucketAndSet: %v", err)
			}
			if bucket.Name() != tc.want {
				t.Errorf("%s: the bucket is %s, want %s", tc.reason, bucket.Name(), tc.want)
			}
			if d := cmp.Diff(tc.wantAll, all.BucketList()); d != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, d)
			}
		})
	}
}

// TestOrdinals: the pods of a StatefulSet divide the keys among them, without a
// lease.
func TestOrdinals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kc := fake.NewSimpleClientset()
		leaders := 0
		for _, pod := range []string{"ctl-0", "ctl-1", "ctl-2"} {
			setenv(t, map[string]string{OrdinalEnvKey: pod, ServiceNameEnvKey: "svc"})
			ctx, cancel := context.WithCancel(WithDynamicLeaderElectorBuilder(t.Context(), kc, ComponentConfig{Component: "ctl", Buckets: 3}))
			if !HasLeaderElection(ctx) {
				t.Error("the reconciler must know that it leads a share only")
			}
			r := &replica{}
			elector, err := BuildElector(ctx, r, "queue", ignore)
			if err != nil {
				t.Fatalf("BuildElector: %v", err)
			}
			r.done.Go(func() { elector.Run(ctx) })
			synctest.Wait()
			if r.IsLeaderFor(types.NamespacedName{Namespace: "ns", Name: "name"}) {
				leaders++
			}
			cancel()
			r.done.Wait()
			if r.IsLeaderFor(types.NamespacedName{Namespace: "ns", Name: "name"}) {
				t.Errorf("%s leads after its end", pod)
			}
		}
		if leaders != 1 || len(kc.Actions()) > 0 {
			t.Errorf("%d pods lead the key, after %d requests", leaders, len(kc.Actions()))
		}
	})
}

// TestWrongOrdinal: an environment that is wrong must not make a process lead
// what another does.
func TestWrongOrdinal(t *testing.T) {
	setenv(t, map[string]string{OrdinalEnvKey: "ctl-7", ServiceNameEnvKey: "svc"})
	ctx := WithDynamicLeaderElectorBuilder(t.Context(), fake.NewSimpleClientset(), ComponentConfig{Buckets: 2})
	if _, err := BuildElector(ctx, &reconciler.LeaderAwareFuncs{}, "queue", ignore); err == nil || !HasLeaderElection(ctx) {
		t.Errorf("BuildElector: %v", err)
	}
}
