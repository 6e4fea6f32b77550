// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package leaderelection

import (
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"weir.dev/pkg/hash"
	"weir.dev/pkg/logging"
	"weir.dev/pkg/reconciler"
	"weir.dev/pkg/system"
)

// Elector promotes and demotes one reconciler.
type Elector interface {
	// Run competes until ctx ends. It returns once the reconciler is demoted
	// and the leases are released.
	Run(ctx context.Context)
}

// Enqueue puts a key of a bucket into the reconciler's queue.
type Enqueue = func(reconciler.Bucket, types.NamespacedName)

type builder func(ctx context.Context, la reconciler.LeaderAware, queue string, enq Enqueue) (Elector, error)

type builderKey struct{}

// WithDynamicLeaderElectorBuilder returns a context whose electors lead by the
// ordinal of a StatefulSet's pod if the environment has one (OrdinalEnvKey),
// else compete for leases in the system namespace.
func WithDynamicLeaderElectorBuilder(ctx context.Context, kc kubernetes.Interface, cc ComponentConfig) context.Context {
	if os.Getenv(OrdinalEnvKey) != "" {
		return withOrdinal(ctx, cc)
	}
	return WithStandardLeaderElectorBuilder(ctx, kc, cc)
}

// WithStandardLeaderElectorBuilder returns a context whose electors compete for
// leases in the system namespace.
func WithStandardLeaderElectorBuilder(ctx context.Context, kc kubernetes.Interface, cc ComponentConfig) context.Context {
	if cc.Identity == "" {
		cc.Identity = newIdentity()
	}
	return context.WithValue(ctx, builderKey{}, builder(
		func(ctx context.Context, la reconciler.LeaderAware, queue string, enq Enqueue) (Elector, error) {
			return newStandard(ctx, kc, cc, la, queue, enq)
		}))
}

// HasLeaderElection tells whether electors of ctx compete.
func HasLeaderElection(ctx context.Context) bool { return ctx.Value(builderKey{}) != nil }

// BuildElector makes the elector of a reconciler and its queue. Without a
// builder in ctx it leads every key from the start to the end.
func BuildElector(ctx context.Context, la reconciler.LeaderAware, queue string, enq Enqueue) (Elector, error) {
	if build, ok := ctx.Value(builderKey{}).(builder); ok {
		return build(ctx, la, queue, enq)
	}
	return &unopposed{la: la, bucket: reconciler.UniversalBucket(), enq: enq}, nil
}

func newIdentity() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return host + "_" + uuid.NewString()
}

// unopposed leads one bucket as long as it runs.
type unopposed struct {
	la     reconciler.LeaderAware
	bucket reconciler.Bucket
	enq    Enqueue
}

func (e *unopposed) Run(ctx context.Context) {
	if err := e.la.Promote(e.bucket, e.enq); err != nil {
		logging.FromContext(ctx).Errorw("Promoting the reconciler failed", "error", err)
		return
	}
	<-ctx.Done()
	e.la.Demote(e.bucket)
}

// standard competes for one lease a bucket.
type standard struct {
	electors []*leaderelection.LeaderElector
}

func newStandard(ctx context.Context, kc kubernetes.Interface, cc ComponentConfig, la reconciler.LeaderAware, queue string, enq Enqueue) (Elector, error) {
	buckets := hash.NewBucketSet(sets.New(cc.leaseNames(queue)...)).Buckets()
	e := &standard{electors: make([]*leaderelection.LeaderElector, 0, len(buckets))}
	for _, bucket := range buckets {
		le, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock:            newLock(kc, system.NamespaceOf(ctx), bucket.Name(), cc.Identity),
			LeaseDuration:   cc.LeaseDuration,
			RenewDeadline:   cc.RenewDeadline,
			RetryPeriod:     cc.RetryPeriod,
			Callbacks:       newTerm(ctx, la, bucket, enq).callbacks(),
			ReleaseOnCancel: true,
			Name:            bucket.Name(),
		})
		if err != nil {
			return nil, fmt.Errorf("building the elector of %s: %w", bucket.Name(), err)
		}
		e.electors = append(e.electors, le)
	}
	return e, nil
}

func newLock(kc kubernetes.Interface, namespace, name, identity string) resourcelock.Interface {
	return &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: namespace, Name: name},
		Client:     kc.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
	}
}

// Run implements Elector. An elector that lost its lease competes again.
func (e *standard) Run(ctx context.Context) {
	var wg sync.WaitGroup
	for _, le := range e.electors {
		wg.Go(func() {
			for ctx.Err() == nil {
				le.Run(ctx)
			}
		})
	}
	wg.Wait()
}
