// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"weir.dev/pkg/kmeta"
	logtesting "weir.dev/pkg/logging/testing"
	"weir.dev/pkg/reconciler"
)

type reconcilerFunc func(ctx context.Context, key string) error

func (f reconcilerFunc) Reconcile(ctx context.Context, key string) error { return f(ctx, key) }

func newPod() *corev1.Pod {
	isController := true
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "pod",
		Labels: map[string]string{"of": "owner", "of-ns": "other"},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "rs", Controller: &isController,
		}},
	}}
}

func TestEnqueue(t *testing.T) {
	tests := map[string]struct {
		reason string
		add    func(*Impl, any)
		obj    any
		want   []any
	}{
		"Enqueue": {
			reason: "the object's key",
			add:    (*Impl).Enqueue, obj: newPod(),
			want: []any{types.NamespacedName{Namespace: "ns", Name: "pod"}},
		},
		"Tombstone": {
			reason: "an object whose deletion was missed has its key, too",
			add:    (*Impl).Enqueue, obj: cache.DeletedFinalStateUnknown{Key: "ns/pod", Obj: newPod()},
			want: []any{types.NamespacedName{Namespace: "ns", Name: "pod"}},
		},
		"NotAnObject": {
			reason: "what is no object is logged and dropped",
			add:    (*Impl).Enqueue, obj: "pod",
		},
		"Slow": {
			reason: "the object's key, in the slow lane",
			add:    (*Impl).EnqueueSlow, obj: newPod(),
			want: []any{types.NamespacedName{Namespace: "ns", Name: "pod"}},
		},
		"ControllerOf": {
			reason: "the controlling owner lives in the object's namespace",
			add:    (*Impl).EnqueueControllerOf, obj: newPod(),
			want: []any{types.NamespacedName{Namespace: "ns", Name: "rs"}},
		},
		"NoController": {
			reason: "an object without a controlling owner concerns nobody",
			add:    (*Impl).EnqueueControllerOf, obj: &corev1.Pod{},
		},
		"NamespaceOf": {
			reason: "the namespace is the key",
			add:    (*Impl).EnqueueNamespaceOf, obj: newPod(),
			want: []any{types.NamespacedName{Name: "ns"}},
		},
		"Label": {
			reason: "a label names the key in the object's namespace",
			add:    func(c *Impl, obj any) { c.EnqueueLabelOfNamespaceScopedResource("", "of")(obj) },
			obj:    newPod(),
			want:   []any{types.NamespacedName{Namespace: "ns", Name: "owner"}},
		},
		"LabelAndNamespace": {
			reason: "another label may name the namespace",
			add:    func(c *Impl, obj any) { c.EnqueueLabelOfNamespaceScopedResource("of-ns", "of")(obj) },
			obj:    newPod(),
			want:   []any{types.NamespacedName{Namespace: "other", Name: "owner"}},
		},
		"NoLabel": {
			reason: "an object without the label concerns nobody",
			add:    func(c *Impl, obj any) { c.EnqueueLabelOfNamespaceScopedResource("", "missing")(obj) },
			obj:    newPod(),
		},
		"ClusterLabel": {
			reason: "a label names what has no namespace",
			add:    func(c *Impl, obj any) { c.EnqueueLabelOfClusterScopedResource("of")(obj) },
			obj:    newPod(),
			want:   []any{types.NamespacedName{Name: "owner"}},
		},
		"Sentinel": {
			reason: "whatever changes, it is always the same key",
			add:    func(c *Impl, obj any) { c.EnqueueSentinel(types.NamespacedName{Name: "x"})(obj) },
			obj:    newPod(),
			want:   []any{types.NamespacedName{Name: "x"}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := NewImpl(reconcilerFunc(nil), logtesting.TestLogger(t), name)
			defer c.WorkQueue().ShutDown()
			tc.add(c, tc.obj)
			if d := cmp.Diff(tc.want, drain(c.queue)); d != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, d)
			}
		})
	}
}

// TestSettle says what becomes of a key for each kind of error.
func TestSettle(t *testing.T) {
	gr := schema.GroupResource{Resource: "pods"}
	terminating := apierrors.NewForbidden(gr, "x", errors.New("namespace is being terminated"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	tests := map[string]struct {
		reason    string
		err       error
		wantRuns  int           // within ten seconds
		wantAfter time.Duration // of the second run
	}{
		"Nil":         {reason: "done", err: nil, wantRuns: 1},
		"Error":       {reason: "tried again, ever later", err: errors.New("x"), wantRuns: 11, wantAfter: 5 * time.Millisecond},
		"Permanent":   {reason: "never tried again", err: fmt.Errorf("x: %w", NewPermanentError(errors.New("y"))), wantRuns: 1},
		"Skip":        {reason: "not ours", err: NewSkipKey("k"), wantRuns: 1},
		"Requeue":     {reason: "at the time asked for", err: fmt.Errorf("x: %w", NewRequeueAfter(4*time.Second)), wantRuns: 3, wantAfter: 4 * time.Second},
		"Terminating": {reason: "the object goes with its namespace", err: fmt.Errorf("x: %w", terminating), wantRuns: 1},
		"Exists":      {reason: "tried again", err: apierrors.NewAlreadyExists(gr, "x"), wantRuns: 11, wantAfter: 5 * time.Millisecond},
		"Conflict":    {reason: "tried again", err: apierrors.NewConflict(gr, "x", nil), wantRuns: 11, wantAfter: 5 * time.Millisecond},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var runs []time.Time
				c := NewImpl(reconcilerFunc(func(context.Context, string) error {
					runs = append(runs, time.Now())
					return tc.err
				}), nil, "test")
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				c.EnqueueKey(types.NamespacedName{Name: "k"})
				if err := c.RunContext(ctx, 1); err != nil {
					t.Errorf("RunContext: %v", err)
				}
				if len(runs) != tc.wantRuns {
					t.Errorf("%s: ran %d times, want %d", tc.reason, len(runs), tc.wantRuns)
				}
				if len(runs) > 1 && runs[1].Sub(runs[0]) != tc.wantAfter {
					t.Errorf("%s: again after %s, want %s", tc.reason, runs[1].Sub(runs[0]), tc.wantAfter)
				}
			})
		})
	}
}

func TestAwaitCollection(t *testing.T) {
	owner := func(name, uid string) *owning {
		return &owning{Pod: corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(uid)}}}
	}
	me := owner("me", "2")
	tests := map[string]struct {
		reason string
		child  metav1.Object
		waits  bool
	}{
		"Mine":      {reason: "nothing to wait for", child: childOf(me)},
		"Nobodys":   {reason: "nobody will take it", child: newPod()},
		"Anothers":  {reason: "its owner may be there", child: childOf(owner("other", "1"))},
		"MyForerun": {reason: "its owner is gone, or else I could not be there", child: childOf(owner("me", "1")), waits: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if again, _ := IsRequeueKey(AwaitCollection(tc.child, me)); again != tc.waits {
				t.Errorf("%s: waits: %t", tc.reason, again)
			}
		})
	}
}

// owning is a pod as an owner.
type owning struct{ corev1.Pod }

func (*owning) GetGroupVersionKind() schema.GroupVersionKind {
	return corev1.SchemeGroupVersion.WithKind("Pod")
}

func childOf(owner kmeta.OwnerRefable) metav1.Object {
	pod := newPod()
	pod.OwnerReferences = []metav1.OwnerReference{*kmeta.NewControllerRef(owner)}
	return pod
}

// TestPanic: one broken object does not end the work on others.
func TestPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reconciled := false
		c := NewImpl(reconcilerFunc(func(_ context.Context, key string) error {
			if key == "broken" {
				panic("at the object")
			}
			reconciled = true
			return nil
		}), nil, "test")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		c.EnqueueKey(types.NamespacedName{Name: "broken"})
		c.EnqueueKey(types.NamespacedName{Name: "sound"})
		if err := StartAll(ctx, c); err != nil {
			t.Errorf("StartAll: %v", err)
		}
		if !reconciled {
			t.Error("the sound object was not reconciled")
		}
	})
}

type half struct{ first bool }

func (h half) Name() string { return fmt.Sprint(h.first) }
func (h half) Has(key types.NamespacedName) bool {
	return (key.Name < "m") == h.first
}

// TestPlainReconcilerIsLeaderAware: keys of others wait until they are ours.
func TestPlainReconcilerIsLeaderAware(t *testing.T) {
	c := NewImpl(reconcilerFunc(func(context.Context, string) error { return nil }), nil, "test")
	defer c.WorkQueue().ShutDown()
	a, z := types.NamespacedName{Name: "a"}, types.NamespacedName{Name: "z"}
	if c.gate.lets(a) || c.gate.lets(z) {
		t.Error("keys are let through before there is a leader")
	}
	if err := c.leaderAware().Promote(half{first: true}, c.MaybeEnqueueBucketKey); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]any{a}, drain(c.queue)); d != "" {
		t.Errorf("promotion enqueues the bucket's keys (-want +got):\n%s", d)
	}
	if !c.gate.lets(a) || c.gate.lets(z) {
		t.Error("want the bucket's keys let through, and no others")
	}
	c.leaderAware().Demote(half{first: true})
	if c.gate.lets(a) {
		t.Error("keys are let through after the end of leadership")
	}
}

type aware struct {
	reconciler.LeaderAwareFuncs
	reconcilerFunc
}

func TestLeaderAwareReconcilerHasNoGate(t *testing.T) {
	r := &aware{}
	c := NewImpl(r, nil, "test")
	defer c.WorkQueue().ShutDown()
	if c.gate != nil || c.leaderAware() != reconciler.LeaderAware(r) {
		t.Error("a leader-aware reconciler was wrapped")
	}
}

func TestFilters(t *testing.T) {
	pod := newPod()
	rs := schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "ReplicaSet"}
	tests := map[string]struct {
		filter func(any) bool
		want   bool
	}{
		"GK":           {FilterControllerGK(rs.GroupKind()), true},
		"GVK":          {FilterControllerGVK(rs), true},
		"OtherVersion": {FilterControllerGVK(schema.GroupVersionKind{Group: "apps", Version: "v2", Kind: "ReplicaSet"}), false},
		"OtherKind":    {FilterControllerGK(schema.GroupKind{Group: "apps", Kind: "Deployment"}), false},
		"Name":         {FilterWithName("pod"), true},
		"OtherName":    {FilterWithName("other"), false},
		"Full":         {FilterWithNameAndNamespace("ns", "pod"), true},
		"OtherFull":    {FilterWithNameAndNamespace("other", "pod"), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.filter(pod); got != tc.want {
				t.Errorf("filter(pod) = %t, want %t", got, tc.want)
			}
			if got := tc.filter(cache.DeletedFinalStateUnknown{Obj: pod}); got != tc.want {
				t.Errorf("filter(tombstone) = %t, want %t", got, tc.want)
			}
			if tc.filter("no object") {
				t.Error("filter wants what is no object")
			}
		})
	}
}

func TestEnsureTypeMeta(t *testing.T) {
	pod := newPod()
	gvk := corev1.SchemeGroupVersion.WithKind("Pod")
	called := false
	EnsureTypeMeta(func(obj any) {
		called = true
		if got := obj.(*corev1.Pod).GroupVersionKind(); got != gvk {
			t.Errorf("kind is %v", got)
		}
	}, gvk)(pod)
	if !called {
		t.Error("the callback was not called")
	}
	if pod.Kind != "" {
		t.Error("the cached object was changed")
	}
}

// TestAfterEnd: what the workers need is there as long as they work, and goes
// with the context of a controller that never ran.
func TestAfterEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	working, ended := make(chan struct{}), make(chan string, 2)
	ran := NewImpl(reconcilerFunc(func(context.Context, string) error {
		close(working)
		<-ctx.Done()
		ended <- "the worker"
		return nil
	}), logtesting.TestLogger(t), "ran")
	ran.AfterEnd(ctx, func() { ended <- "what it needs" })
	ran.EnqueueKey(types.NamespacedName{Name: "key"})
	idle, never := make(chan struct{}), NewImpl(reconcilerFunc(nil), logtesting.TestLogger(t), "never")
	never.AfterEnd(ctx, func() { close(idle) })
	go func() {
		<-working
		cancel()
	}()
	if err := ran.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if first, second := <-ended, <-ended; first != "the worker" || second != "what it needs" {
		t.Errorf("%s ended before %s", first, second)
	}
	<-idle
}
