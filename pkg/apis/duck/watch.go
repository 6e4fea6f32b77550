// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package duck

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// typedWatch is a watch with objects of example's type. It is not made with
// watch.Filter, whose goroutine stays for ever when the watch is stopped while
// an event is at hand.
type typedWatch struct {
	untyped watch.Interface
	example runtime.Object
	events  chan watch.Event

	stop    sync.Once
	stopped chan struct{}
}

var _ watch.Interface = (*typedWatch)(nil)

func newTypedWatch(untyped watch.Interface, example runtime.Object) *typedWatch {
	w := &typedWatch{untyped: untyped, example: example, events: make(chan watch.Event), stopped: make(chan struct{})}
	go w.run()
	return w
}

func (w *typedWatch) run() {
	defer close(w.events)
	for e := range w.untyped.ResultChan() {
		select {
		case w.events <- typedEvent(e, w.example):
		case <-w.stopped:
			return
		}
	}
}

// ResultChan implements watch.Interface.
func (w *typedWatch) ResultChan() <-chan watch.Event { return w.events }

// Stop implements watch.Interface.
func (w *typedWatch) Stop() {
	w.stop.Do(func() { close(w.stopped) })
	w.untyped.Stop()
}
