// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/workqueue"
)

type lane int

const (
	fast lane = iota
	slow
)

// fastRun is how many keys of the fast lane may go before one of the slow lane
// that waits, so that a steady stream of changes cannot hold back a resync.
const fastRun = 20

// lanes is the storage of a work queue. The queue calls Push, Touch, Pop and
// Len under its own lock; ask comes from outside it, so that lanes has a lock too.
type lanes struct {
	mu sync.Mutex
	// want is the lane asked for by adds that Push or Touch did not see yet.
	// It survives an add during processing, which is pushed when that is done.
	want map[any]lane
	fast []any
	// slow is the order of the slow lane and inSlow its members: a key that
	// moved to the fast lane stays in the order and is passed over.
	slow   []any
	inSlow sets.Set[any]
	run    int // fast keys since the last slow one
}

var _ workqueue.Queue[any] = (*lanes)(nil)

func newLanes() *lanes { return &lanes{want: map[any]lane{}, inSlow: sets.New[any]()} }

// ask records the lane of the add that follows; fast beats slow.
func (l *lanes) ask(key any, to lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, asked := l.want[key]; to == fast || !asked {
		l.want[key] = to
	}
}

// Push implements workqueue.Queue.
func (l *lanes) Push(key any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.taken(key) == slow {
		l.slow = append(l.slow, key)
		l.inSlow.Insert(key)
		return
	}
	l.fast = append(l.fast, key)
}

// Touch implements workqueue.Queue: a key that waits in the slow lane and is
// added fast moves over.
func (l *lanes) Touch(key any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.taken(key) == fast && l.inSlow.Has(key) {
		l.inSlow.Delete(key)
		l.fast = append(l.fast, key)
	}
}

// taken returns the lane asked for, which is fast when nobody asked.
func (l *lanes) taken(key any) lane {
	to := l.want[key]
	delete(l.want, key)
	return to
}

// Len implements workqueue.Queue.
func (l *lanes) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.fast) + l.inSlow.Len()
}

// Pop implements workqueue.Queue.
func (l *lanes) Pop() any {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.fast) > 0 && (l.run < fastRun || l.inSlow.Len() == 0) {
		l.run++
		return shift(&l.fast)
	}
	l.run = 0
	for {
		if key := shift(&l.slow); l.inSlow.Has(key) {
			l.inSlow.Delete(key)
			return key
		}
	}
}

func shift(keys *[]any) any {
	key := (*keys)[0]
	(*keys)[0] = nil // let it be collected
	*keys = (*keys)[1:]
	return key
}
