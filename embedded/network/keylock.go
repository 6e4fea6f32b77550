// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package network

import "sync"

// keyLock locks by name: work on one sandbox is done one after the other, on
// different ones at the same time.
type keyLock struct {
	mu   sync.Mutex
	held map[string]*keyEntry
}

type keyEntry struct {
	mu    sync.Mutex
	users int
}

// lock returns the function that unlocks.
func (l *keyLock) lock(key string) func() {
	l.mu.Lock()
	if l.held == nil {
		l.held = map[string]*keyEntry{}
	}
	e := l.held[key]
	if e == nil {
		e = &keyEntry{}
		l.held[key] = e
	}
	e.users++
	l.mu.Unlock()
	e.mu.Lock()
	return func() {
		e.mu.Unlock()
		l.mu.Lock()
		defer l.mu.Unlock()
		if e.users--; e.users == 0 {
			delete(l.held, key)
		}
	}
}
