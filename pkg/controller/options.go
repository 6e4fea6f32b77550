// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"time"

	"go.uber.org/zap"
	"k8s.io/client-go/util/workqueue"

	"weir.dev/pkg/reconciler"
)

// DefaultThreadsPerController is how many keys a controller works on at once
// unless told otherwise.
const DefaultThreadsPerController = 2

// ControllerOptions say how the queue of a controller works.
type ControllerOptions struct { //nolint:revive // the public name that controllers use
	// WorkQueueName names the controller in logs, metrics and leases.
	WorkQueueName string
	// Logger is the parent of the loggers of reconciles.
	Logger *zap.SugaredLogger
	// RateLimiter spaces retries; nil means from 5 ms up to a minute.
	RateLimiter workqueue.TypedRateLimiter[any]
	// Concurrency is how many keys are worked on at once; 0 means
	// DefaultThreadsPerController.
	Concurrency int
}

// Options change how a generated reconciler behaves.
type Options struct {
	// ConfigStore puts configuration into the context of every run.
	ConfigStore reconciler.ConfigStore

	// FinalizerName replaces the default finalizer, <plural>.<group>.
	FinalizerName string

	// UseServerSideApplyForFinalizers sets finalizers by server-side apply
	// instead of a merge patch. It needs FinalizerFieldManager.
	UseServerSideApplyForFinalizers bool
	// FinalizerFieldManager is the field manager of finalizers.
	FinalizerFieldManager string
	// ForceApplyFinalizers takes finalizers over from other field managers.
	ForceApplyFinalizers bool

	// AgentName replaces the default source of events, <kind>-controller.
	AgentName string

	// SyncMetadata writes labels and annotations that ReconcileKind changed back
	// to the API; without it they are ignored, as is everything but the status.
	SyncMetadata bool

	// SettleStatus holds back a status that only says that work goes on: one
	// whose summary was Unknown, or absent, and still is. It is written when it
	// has stood for this long, or with the result if that comes first. 0 writes
	// each. A run that ends with an error is written at once, unless it is one that
	// passes by itself, as a conflict does.
	SettleStatus time.Duration

	// SkipStatusUpdates keeps status from being written.
	SkipStatusUpdates bool

	// DemoteFunc is called when this replica no longer leads a bucket.
	DemoteFunc func(b reconciler.Bucket)
	// PromoteFunc is called when this replica begins to lead a bucket.
	PromoteFunc func(b reconciler.Bucket)
	// PromoteFilterFunc chooses which objects are enqueued then; nil means all.
	PromoteFilterFunc func(obj any) bool

	// Concurrency is how many keys are worked on at once; 0 means
	// DefaultThreadsPerController.
	Concurrency int
}

// OptionsFn makes the options of a generated reconciler, which may need its Impl.
type OptionsFn func(impl *Impl) Options
