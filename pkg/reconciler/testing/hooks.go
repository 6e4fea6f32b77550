// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package testing

import (
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgotesting "k8s.io/client-go/testing"
)

// HookResult says whether a hook waits for more.
type HookResult bool

const (
	// HookComplete is the result of a hook that has seen what it waited for.
	HookComplete HookResult = true
	// HookIncomplete is the result of one that has not.
	HookIncomplete HookResult = false
)

// Hooks wait for writes to fake clients.
type Hooks struct {
	completion chan struct{}
	pending    int
}

// NewHooks returns no hooks yet.
func NewHooks() *Hooks { return &Hooks{completion: make(chan struct{}, 100)} }

// OnCreate calls f with every object of the resource that is created, until it
// is complete. It must be called before writes are made, like the others.
func (h *Hooks) OnCreate(fake *clientgotesting.Fake, resource string, f func(runtime.Object) HookResult) {
	h.on(fake, "create", resource, func(a clientgotesting.Action) HookResult {
		return f(a.(clientgotesting.CreateAction).GetObject())
	})
}

// OnUpdate calls f with every object of the resource that is updated, until it
// is complete.
func (h *Hooks) OnUpdate(fake *clientgotesting.Fake, resource string, f func(runtime.Object) HookResult) {
	h.on(fake, "update", resource, func(a clientgotesting.Action) HookResult {
		return f(a.(clientgotesting.UpdateAction).GetObject())
	})
}

// OnDelete calls f with the name of every object of the resource that is
// deleted, until it is complete.
func (h *Hooks) OnDelete(fake *clientgotesting.Fake, resource string, f func(name string) HookResult) {
	h.on(fake, "delete", resource, func(a clientgotesting.Action) HookResult {
		return f(a.(clientgotesting.DeleteAction).GetName())
	})
}

// on is called by fake clients under their lock, so complete needs none.
func (h *Hooks) on(fake *clientgotesting.Fake, verb, resource string, f func(clientgotesting.Action) HookResult) {
	h.pending++
	complete := false
	fake.PrependReactor(verb, resource, func(a clientgotesting.Action) (bool, runtime.Object, error) {
		if !complete && f(a) == HookComplete {
			complete = true
			h.completion <- struct{}{}
		}
		return false, nil, nil
	})
}

// WaitForHooks waits until every hook is complete.
func (h *Hooks) WaitForHooks(timeout time.Duration) error {
	after := time.After(timeout)
	for range h.pending {
		select {
		case <-h.completion:
		case <-after:
			return errors.New("timed out waiting for hooks")
		}
	}
	h.pending = 0
	return nil
}
