// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package backend

// waiter is a request in the queue. Exactly one of inst and err is set when ready is signalled.
type waiter struct {
	prev, next *waiter
	queued     bool
	ready      chan struct{} // holds one signal
	inst       *Instance
	err        *Error
}

// queue is a list in the order of arrival, from which a caller that gave up is taken in constant time.
type queue struct {
	head, tail *waiter
	len        int
}

func (q *queue) pushBack(w *waiter) {
	w.prev, w.next, w.queued = q.tail, nil, true
	if q.tail != nil {
		q.tail.next = w
	} else {
		q.head = w
	}
	q.tail = w
	q.len++
}

// pushFront is for a request that had its turn and was refused by its instance.
func (q *queue) pushFront(w *waiter) {
	w.prev, w.next, w.queued = nil, q.head, true
	if q.head != nil {
		q.head.prev = w
	} else {
		q.tail = w
	}
	q.head = w
	q.len++
}

func (q *queue) remove(w *waiter) {
	if w.prev != nil {
		w.prev.next = w.next
	} else {
		q.head = w.next
	}
	if w.next != nil {
		w.next.prev = w.prev
	} else {
		q.tail = w.prev
	}
	w.prev, w.next, w.queued = nil, nil, false
	q.len--
}
