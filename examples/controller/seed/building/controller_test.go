// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package building

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"weir.dev/pkg/configmap"
	logtesting "weir.dev/pkg/logging/testing"
)

// TestReconcile: keys that are enqueued reach Reconcile in their string form.
func TestReconcile(t *testing.T) {
	for want, key := range map[string]types.NamespacedName{
		"ns/name": {Namespace: "ns", Name: "name"},
		"name":    {Name: "name"},
	} {
		ctx, cancel := context.WithCancel(logtesting.TestContextWithLogger(t))
		impl := NewController(ctx, configmap.NewStaticWatcher())
		impl.EnqueueKey(key)
		ended := make(chan error)
		go func() { ended <- impl.Run(ctx) }()
		if got := <-impl.Reconciler.(*Reconciler).Seen; got != want {
			t.Errorf("reconciled %q, want %q", got, want)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}
