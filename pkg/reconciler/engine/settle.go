// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	duckv1 "weir.dev/pkg/apis/duck/v1"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/reconciler"
)

// unsettled remembers since when statuses are held back.
type unsettled struct {
	now func() time.Time

	mu    sync.Mutex
	since map[types.NamespacedName]time.Time
}

// hold says for how long the status of key is still to be held back, of settle in all.
func (u *unsettled) hold(key types.NamespacedName, settle time.Duration) time.Duration {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := u.now()
	since, held := u.since[key]
	switch {
	case !held:
		if u.since == nil {
			u.since = map[types.NamespacedName]time.Time{}
		}
		u.since[key] = now
		return settle
	case now.Sub(since) < settle:
		return settle - now.Sub(since)
	}
	delete(u.since, key)
	return 0
}

func (u *unsettled) forget(key types.NamespacedName) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.since, key)
}

// settle says for how long the new status is to be held back; see
// controller.Options.SettleStatus. 0 is not at all.
func (r run[T]) settle(before, after duckv1.KRShaped, event reconciler.Event) time.Duration {
	if r.options.SettleStatus == 0 {
		return 0
	}
	if (event != nil && !isSilent(event)) || !isUnknown(before) || !isUnknown(after) || same(before.GetStatus(), after.GetStatus()) {
		r.unsettled.forget(r.key)
		return 0
	}
	return r.unsettled.hold(r.key, r.options.SettleStatus)
}

// later ends a run whose status is held back: everything else is done, and the
// key comes back when the status may be written.
func (r run[T]) later(ctx context.Context, cached, obj T, event reconciler.Event, wait time.Duration) error {
	if _, err := r.writeMetadata(ctx, cached, obj); err != nil {
		return err
	}
	requeue, asked := controller.IsRequeueKey(event)
	if event == nil || controller.IsSkipKey(event) || (requeue && asked > wait) {
		return controller.NewRequeueAfter(wait)
	}
	return event
}

// isUnknown tells whether the summary of an object's conditions is neither True
// nor False.
func isUnknown(obj duckv1.KRShaped) bool {
	return obj.GetConditionSet().Manage(obj.GetStatus()).GetTopLevelCondition().IsUnknown()
}
