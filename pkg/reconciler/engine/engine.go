// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	duckv1 "weir.dev/pkg/apis/duck/v1"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/logging"
	"weir.dev/pkg/logging/logkey"
	"weir.dev/pkg/reconciler"
)

// Config is what a Reconciler is made of.
type Config[T Object[T]] struct {
	// Kind of the objects.
	Kind Kind[T]
	// Reconciler does the work; it may also be a Finalizer, a ReadOnly and a
	// reconciler.OnDeletionInterface.
	Reconciler Interface[T]
	// ClassValue is the class of the objects to reconcile, for kinds with classes.
	ClassValue string
	// Recorder records events.
	Recorder record.EventRecorder
	// Logger of runs whose context has none.
	Logger *zap.SugaredLogger
	// Options as the controller's author chose.
	Options controller.Options
}

// Reconciler is the controller.Reconciler of one kind.
type Reconciler[T Object[T]] struct {
	reconciler.LeaderAwareFuncs

	kind       Kind[T]
	reconciler Interface[T]
	classValue string
	recorder   record.EventRecorder
	logger     *zap.SugaredLogger
	options    controller.Options
	finalizer  string
	unsettled  unsettled
}

var (
	_ controller.Reconciler  = (*Reconciler[*duckv1.KResource])(nil)
	_ reconciler.LeaderAware = (*Reconciler[*duckv1.KResource])(nil)
)

// New makes a reconciler. It panics on options that contradict each other: a
// mistake in the program.
func New[T Object[T]](cfg Config[T]) *Reconciler[T] {
	r := &Reconciler[T]{
		kind:       cfg.Kind,
		reconciler: cfg.Reconciler,
		classValue: cfg.ClassValue,
		recorder:   kindRecorder{EventRecorder: cfg.Recorder, gvk: cfg.Kind.GVK},
		logger:     cfg.Logger,
		unsettled:  unsettled{now: time.Now},
	}
	r.PromoteFunc = r.promote
	r.configure(cfg.Options)
	return r
}

func (r *Reconciler[T]) configure(o controller.Options) {
	if o.UseServerSideApplyForFinalizers && o.FinalizerFieldManager == "" {
		panic(fmt.Sprintf("reconciler of %s: UseServerSideApplyForFinalizers needs FinalizerFieldManager", r.kind.GVK.Kind))
	}
	r.options = o
	r.DemoteFunc = o.DemoteFunc
	r.finalizer = o.FinalizerName
	if r.finalizer == "" {
		r.finalizer = r.kind.Plural + "." + r.kind.GVK.Group
	}
}

// promote enqueues what the new bucket makes this replica responsible for.
func (r *Reconciler[T]) promote(b reconciler.Bucket, enq func(reconciler.Bucket, types.NamespacedName)) error {
	if r.options.PromoteFunc != nil {
		r.options.PromoteFunc(b)
	}
	all, err := r.kind.List(labels.Everything())
	if err != nil {
		return fmt.Errorf("listing %s: %w", r.kind.Plural, err)
	}
	for _, obj := range all {
		if r.isOurs(obj) && (r.options.PromoteFilterFunc == nil || r.options.PromoteFilterFunc(obj)) {
			enq(b, types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()})
		}
	}
	return nil
}

// isOurs tells whether the object is of the class that this reconciler is for.
func (r *Reconciler[T]) isOurs(obj T) bool {
	for _, key := range r.kind.ClassKeys {
		if class, ok := obj.GetAnnotations()[key]; ok {
			return class == r.classValue
		}
	}
	return len(r.kind.ClassKeys) == 0
}

// Reconcile implements controller.Reconciler. A key that names no object, and
// never will, is dropped.
func (r *Reconciler[T]) Reconcile(ctx context.Context, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		logging.FromContext(ctx).Errorw("Dropping a key that names no object", logkey.Key, key, "error", err)
		return nil
	}
	run := run[T]{Reconciler: r, key: types.NamespacedName{Namespace: namespace, Name: name}}
	run.leads = r.IsLeaderFor(run.key)
	run.observer, _ = r.reconciler.(ReadOnly[T])
	if !run.leads && run.observer == nil {
		return controller.NewSkipKey(key)
	}

	ctx = r.prepare(ctx, key)
	cached, err := r.kind.Get(namespace, name)
	switch {
	case apierrors.IsNotFound(err):
		r.unsettled.forget(run.key)
		return r.observeDeletion(ctx, run.key)
	case err != nil:
		return fmt.Errorf("reading %s %s: %w", r.kind.GVK.Kind, key, err)
	case !r.isOurs(cached):
		return nil
	}
	return run.do(ctx, cached)
}

// prepare puts into the context what a run finds there.
func (r *Reconciler[T]) prepare(ctx context.Context, key string) context.Context {
	if r.logger != nil {
		ctx = logging.WithLogger(ctx, r.logger.With(logkey.Key, key))
	}
	if r.options.ConfigStore != nil {
		ctx = r.options.ConfigStore.ToContext(ctx)
	}
	return controller.WithEventRecorder(ctx, r.recorder)
}

func (r *Reconciler[T]) observeDeletion(ctx context.Context, key types.NamespacedName) error {
	observer, ok := r.reconciler.(reconciler.OnDeletionInterface)
	if !ok {
		return nil
	}
	return observer.ObserveDeletion(ctx, key)
}
